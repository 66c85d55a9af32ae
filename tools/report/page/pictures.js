// Pictures that runs have drawn, small beside each other, and one at a time as large as the screen.
"use strict";

const Pictures = (() => {
  const { make } = Parts;
  let large; // the dialog, made when it is first needed

  function enlarge(picture) {
    large ??= document.body.appendChild(make("dialog", { class: "large", "aria-label": "picture", onclick: () => large.close() }));
    const image = make("img", { src: picture.source, alt: picture.title });
    const wide = make("button", { type: "button", onclick: (event) => { event.stopPropagation(); large.classList.toggle("whole"); } }, "real size");
    large.classList.remove("whole");
    large.replaceChildren(make("p", {}, make("b", {}, picture.title), " ", picture.run, " ", wide, " ", make("button", { type: "button", autofocus: true }, "close")), image);
    large.showModal();
  }

  function gallery(exhibit) {
    if (exhibit.pictures.length === 0) return null;
    return make("div", { class: "pictures" }, exhibit.pictures.map((picture, i) => make("figure", { class: "picture" },
      make("button", { type: "button", "data-key": `${exhibit.id} picture ${i}`, "aria-label": `enlarge: ${picture.title}, ${picture.run}`, onclick: () => enlarge(picture) },
        make("img", { src: picture.source, alt: `${picture.title}, ${picture.run}`, loading: "lazy" })),
      make("figcaption", {}, make("b", {}, picture.title), make("span", { class: "fine" }, picture.run)))));
  }

  return { gallery };
})();
