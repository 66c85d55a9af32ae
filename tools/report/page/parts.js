// The small parts that the page is made of. All text goes in as text nodes, so nothing in a run's name or files can become
// markup.
"use strict";

const Parts = (() => {
  function make(tag, properties = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.flat(2).filter((child) => child !== null && child !== undefined));
    return node;
  }

  // The colours and dashes of the figures, from the program's own table: a light colour and one for dark screens.
  let dashes = [[]];
  function setLooks(looks) {
    dashes = looks.dashes;
    const sheet = new CSSStyleSheet();
    const rule = (i) => `:root { ${Object.entries(looks.colors).map(([name, pair]) => `--norm-${name}: ${pair[i]};`).join(" ")} }`;
    sheet.replaceSync(`${rule(0)} @media screen and (prefers-color-scheme: dark) { ${rule(1)} }`);
    document.adoptedStyleSheets = [sheet];
  }
  const dashOf = (number) => dashes[number % dashes.length];

  const badge = ({ kind, text }) => make("span", { class: `badge ${kind}` }, text);

  // A piece of a curve; nothing where there is no norm.
  function swatch(norm, dash = 0) {
    if (norm === "") return null;
    const space = "http://www.w3.org/2000/svg";
    const picture = document.createElementNS(space, "svg"), line = document.createElementNS(space, "line");
    for (const [name, value] of Object.entries({ class: "swatch", width: 26, height: 8, "aria-hidden": "true" })) picture.setAttribute(name, value);
    for (const [name, value] of Object.entries({ x1: 0, x2: 26, y1: 4, y2: 4, "stroke-width": 3, "stroke-dasharray": dashOf(dash).join(" ") || "none" })) line.setAttribute(name, value);
    line.style.stroke = `var(--norm-${CSS.escape(norm)}, var(--norm-other))`;
    picture.append(line);
    return picture;
  }

  // The same of the paper's curves: thin and pale.
  function paperSwatch(norm) {
    const picture = swatch(norm);
    picture.classList.add("of-paper");
    return picture;
  }

  // A command with a button that copies it.
  function command(text, key) {
    const code = make("code", {}, text);
    async function copy(event) {
      const button = event.target;
      try {
        await navigator.clipboard.writeText(text);
      } catch { // no clipboard for this page: select it, as a hand would
        getSelection().selectAllChildren(code);
        if (!document.execCommand("copy")) return;
      }
      button.textContent = "copied";
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    }
    return make("div", { class: "command" },
      make("pre", { tabindex: "0", "aria-label": "command" }, code),
      make("button", { type: "button", "data-key": `copy ${key}`, "aria-label": `copy: ${text.slice(0, 60)}`, onclick: copy }, "copy"));
  }

  const cellOf = (cell) => make("td", {}, cell.mark ? make("mark", { title: cell.mark }, cell.text, make("span", { class: "unseen" }, ` (${cell.mark})`)) : cell || "–");

  // A table's head, and the box in which a wide one is moved.
  const head = (titles) => make("thead", {}, make("tr", {}, titles.map((text) => make("th", { scope: "col" }, text))));
  const scrolled = (title, ...content) => make("div", { class: "table", role: "region", tabindex: "0", "aria-label": title }, make("table", {}, content));

  function table({ title, columns, rows }) {
    const both = new Set(rows.map((row) => row.source)).size > 1;
    const lines = [];
    let group;
    for (const row of rows) {
      if (row.group && row.group !== group) lines.push(make("tr", { class: "group" }, make("th", { scope: "rowgroup", colspan: columns.length + 1 }, swatch(row.norm), row.group)));
      group = row.group;
      lines.push(make("tr", { class: row.source },
        make("th", { scope: "row" }, row.group ? null : swatch(row.norm), row.label),
        both ? make("td", { class: "source" }, row.source === "paper" ? "paper" : "ours") : null,
        row.cells.map(cellOf)));
    }
    return scrolled(title, make("caption", {}, title), head(["", ...(both ? ["source"] : []), ...columns]), make("tbody", {}, lines));
  }

  function checkbox(text, key, checked, change, picture = null) {
    return make("label", {}, make("input", { type: "checkbox", checked, "data-key": key, onchange: (e) => change(e.target.checked) }), picture, text);
  }

  // What can be folded; `key` keeps it as it is when a live page is laid out again.
  const folded = (key, title, open, ...content) => make("details", { "data-key": `fold ${key}`, open }, make("summary", {}, title), content);

  // A file of the repository: a link where the page knows the way to it.
  let repository = "";
  const setRepository = (way) => { repository = way; };
  const fileLink = (path, text = path) => (repository ? make("a", { href: repository + path }, text) : make("code", {}, text));

  return { make, setLooks, dashOf, badge, swatch, paperSwatch, command, head, scrolled, table, checkbox, folded, setRepository, fileLink };
})();
