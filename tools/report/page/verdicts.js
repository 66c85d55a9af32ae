// What is known of each exhibit's claims: a table of all at the top, and under each exhibit its claims one by one.
"use strict";

const Verdicts = (() => {
  const { make, badge, head, scrolled, folded, fileLink } = Parts;
  const none = (exhibit) => (!exhibit.claim || exhibit.id === "speed" || exhibit.id === "tape" ? "Measured, not judged." : "No study judges it yet.");

  function row(exhibit) {
    return make("tr", {},
      make("th", { scope: "row" }, make("a", { href: `#${exhibit.id}` }, make("b", {}, exhibit.title), " ", exhibit.subject)),
      make("td", {}, exhibit.verdict ? badge(exhibit.verdict.badge) : "–"),
      make("td", { class: "known" }, exhibit.verdict ? exhibit.verdict.sentence : none(exhibit)),
      make("td", { class: "here" }, exhibit.badges.map(badge)));
  }

  function tableOf(exhibits, part) {
    return make("table", { class: "overview", "aria-label": `Verdicts: ${part}` },
      head(["exhibit", "verdict", "what is known", "runs shown here"]),
      make("tbody", {}, exhibits.map(row)));
  }

  // The paper's exhibits open, those of the other parts folded.
  function overview(exhibits) {
    const parts = [...new Set(exhibits.map((exhibit) => exhibit.part))];
    return parts.map((part, i) => {
      const own = exhibits.filter((exhibit) => exhibit.part === part);
      return i === 0 ? tableOf(own, part) : folded(`overview ${part}`, `${part}: ${own.length} ${own.length === 1 ? "exhibit" : "exhibits"}`, false, tableOf(own, part));
    });
  }

  function claims(exhibit) {
    return scrolled(`claims of ${exhibit.title}`, head(["claim", "verdict", "number", "seeds", "data", "from"]),
      make("tbody", {}, exhibit.verdict.claims.map((claim) => make("tr", { class: "claim" },
        make("th", { scope: "row" }, claim.claim), make("td", {}, badge(claim.badge)), make("td", { class: "words" }, claim.number || "–"),
        make("td", {}, claim.seeds || "–"), make("td", { class: "words" }, claim.data || "–"), make("td", {}, fileLink(claim.page, claim.name))))));
  }

  function block(exhibit) {
    if (!exhibit.verdict) return null;
    const count = exhibit.verdict.claims.length;
    return make("div", { class: "verdict" },
      make("p", {}, badge(exhibit.verdict.badge), " ", exhibit.verdict.sentence),
      folded(`${exhibit.id} claims`, count === 1 ? "where this comes from" : `all ${count} claims`, false, claims(exhibit)));
  }

  return { overview, block };
})();
