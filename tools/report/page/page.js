// Lays the report out. All text goes in as text nodes, so nothing in a run's name or files can become markup.
"use strict";

(() => {
  const states = new Map(); // what the reader chose, by exhibit: { hidden: labels, charts: { title: state } }
  const shown = new Map(); // by exhibit: { json, section, charts }

  function make(tag, properties = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return node;
  }

  const partId = (part) => "part-" + part.toLowerCase().replace(/[^a-z]+/g, "-");
  const badges = (list) => list.map(({ kind, text }) => make("span", { class: `badge ${kind}` }, text));
  const swatch = (norm, dash) => {
    const line = make("span", { class: "swatch", "data-norm": norm, "data-dash": dash, "aria-hidden": "true" });
    line.style.borderTopColor = `var(--norm-${norm}, var(--norm-other))`;
    return line;
  };

  function table({ title, columns, rows }) {
    const both = new Set(rows.map((row) => row.source)).size > 1;
    const head = (text) => make("th", { scope: "col" }, text);
    return make("div", { class: "table", role: "region", tabindex: "0", "aria-label": title },
      make("table", {},
        make("caption", {}, title),
        make("thead", {}, make("tr", {}, head(""), both ? head("source") : null, columns.map(head))),
        make("tbody", {}, rows.map((row) => make("tr", { class: row.source },
          make("th", { scope: "row" }, swatch(row.norm, 0), row.label),
          both ? make("td", { class: "source" }, row.source === "paper" ? "paper" : "ours") : null,
          row.cells.map((cell) => make("td", {}, cell || "–")))))));
  }

  function checkbox(text, key, checked, change) {
    return make("label", {}, make("input", { type: "checkbox", checked, "data-key": key, onchange: (e) => change(e.target.checked) }), text);
  }

  function chart(plan, exhibit, state, charts) {
    const own = (state.charts[plan.title] ??= {});
    const box = make("div", { class: "plot" });
    const key = `${exhibit.id} ${plan.title}`;
    const figure = make("figure", { "aria-label": `${plan.title}: ${plan.y} against ${plan.x}` },
      make("figcaption", {}, make("b", {}, plan.title),
        make("span", { class: "controls" },
          checkbox("log x", `${key} x`, own.logX ?? plan.log_x, (on) => charts[plan.title].setLog("logX", on)),
          checkbox("log y", `${key} y`, own.logY ?? plan.log_y, (on) => charts[plan.title].setLog("logY", on)),
          make("button", { type: "button", "data-key": `${key} zoom`, onclick: () => charts[plan.title].unzoom() }, "whole range"))),
      box);
    return { figure, start: () => { charts[plan.title] = new Charts.Chart(box, plan, exhibit.id, state.hidden, own); } };
  }

  // One switch for every curve of the exhibit, whichever charts it is in.
  function switches(exhibit, state, charts) {
    const curves = new Map(exhibit.charts.flatMap((each) => each.curves.map((curve) => [curve.label, curve])));
    if (curves.size === 0) return null;
    return make("fieldset", { class: "switches" }, make("legend", {}, "Curves"),
      [...curves].map(([label, curve]) => {
        const toggle = (on) => {
          if (on) state.hidden.delete(label); else state.hidden.add(label);
          Object.values(charts).forEach((each) => each.show(label, on));
        };
        const item = checkbox(label, `${exhibit.id} ${label}`, !state.hidden.has(label), toggle);
        item.firstChild.after(swatch(curve.norm, curve.dash));
        return item;
      }),
      make("span", { class: "hint" }, "drag in a chart to zoom, double-click to leave"));
  }

  function runs(list) {
    return list.length === 0 ? null : make("details", { class: "runs", open: list.some((run) => run.problems.length > 0) },
      make("summary", {}, `${list.length} ${list.length === 1 ? "run" : "runs"}: settings and commands`),
      list.map((run) => make("div", { class: "run" },
        make("p", {}, swatch(run.norm, 0), make("b", {}, run.path), " ", badges(run.badges)),
        run.problems.map((problem) => make("p", { class: "problem" }, problem)),
        make("pre", { tabindex: "0" }, make("code", {}, run.command)),
        run.made_with ? make("p", { class: "fine" }, run.made_with) : null)));
  }

  function render(exhibit) {
    const state = states.get(exhibit.id) ?? { hidden: new Set(), charts: {} };
    states.set(exhibit.id, state);
    const charts = {};
    const drawn = exhibit.charts.map((plan) => chart(plan, exhibit, state, charts));
    const section = make("section", { id: exhibit.id, "aria-labelledby": `${exhibit.id}-title` },
      make("p", { class: "kicker" }, exhibit.title, exhibit.section && !exhibit.title.startsWith("Section") ? ` · Section ${exhibit.section}` : null),
      make("h3", { id: `${exhibit.id}-title` }, exhibit.subject),
      make("p", { class: "badges" }, badges(exhibit.badges)),
      make("blockquote", {}, make("p", {}, exhibit.claim)),
      make("p", { class: "setting" }, exhibit.setting),
      switches(exhibit, state, charts),
      drawn.length ? make("div", { class: "charts" }, drawn.map((each) => each.figure)) : null,
      exhibit.tables.map(table),
      exhibit.runs.length ? null : make("p", { class: "not-run" }, "Not run here. This command does it:"),
      make("pre", { class: "command", tabindex: "0" }, make("code", {}, exhibit.command)),
      runs(exhibit.runs));
    return { section, charts, start: () => drawn.forEach((each) => each.start()) };
  }

  // Only what is not the curves' points decides whether a section must be laid out again.
  const frameOf = (exhibit) => JSON.stringify(exhibit.charts.map((each) => [each.title, each.curves.map((curve) => curve.label)]));

  function place(exhibit, main) {
    const json = JSON.stringify(exhibit), before = shown.get(exhibit.id);
    if (before?.json === json) return;
    const { section, charts, start } = render(exhibit);
    if (!before) {
      if (!document.getElementById(partId(exhibit.part))) main.append(make("h2", { id: partId(exhibit.part) }, exhibit.part));
      main.append(section);
      start();
      shown.set(exhibit.id, { json, frame: frameOf(exhibit), section, charts });
      return;
    }
    const focused = before.section.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
    const open = before.section.querySelector("details")?.open;
    if (before.frame === frameOf(exhibit)) { // the same curves, longer: the charts stay
      for (const plan of exhibit.charts) before.charts[plan.title].update(plan);
      const old = before.section.querySelectorAll(".badges, .table, .runs"), fresh = section.querySelectorAll(".badges, .table, .runs");
      if (old.length === fresh.length) {
        old.forEach((node, i) => node.replaceWith(fresh[i]));
        if (open) before.section.querySelector("details").open = true;
        Object.assign(before, { json });
        return;
      }
    }
    Object.values(before.charts).forEach((each) => each.destroy());
    before.section.replaceWith(section);
    start();
    if (open) section.querySelector("details")?.setAttribute("open", "");
    if (focused) section.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
    shown.set(exhibit.id, { json, frame: frameOf(exhibit), section, charts });
  }

  // A list for each part, under a link to its heading.
  function contents(exhibits) {
    const parts = [...new Set(exhibits.map((exhibit) => exhibit.part))];
    const item = (exhibit) => make("li", {},
      make("a", { href: `#${exhibit.id}` }, make("b", {}, exhibit.title), " ", exhibit.subject),
      make("span", {}, badges(exhibit.badges)));
    const nav = document.getElementById("contents"), focused = nav.contains(document.activeElement) && document.activeElement.getAttribute("href");
    nav.replaceChildren(...parts.flatMap((part) => [
      make("p", {}, make("a", { href: `#${partId(part)}` }, part)),
      make("ol", { "aria-label": part }, exhibits.filter((exhibit) => exhibit.part === part).map(item))]));
    if (focused) nav.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }

  function show(report) {
    contents(report.exhibits);
    const main = document.getElementById("exhibits");
    for (const exhibit of report.exhibits) place(exhibit, main);
    document.getElementById("made").replaceChildren(
      `Made on ${report.date} by ${report.program}. One file; it asks the network for nothing.`,
      ...report.leftovers.map((text) => make("span", { class: "problem" }, text)));
  }

  async function follow() {
    const status = document.getElementById("status");
    try {
      const answer = await fetch("data.json");
      if (!answer.ok) throw new Error(await answer.text());
      show(await answer.json());
      status.textContent = "Live: follows the runs.";
    } catch (problem) {
      status.textContent = `Not live at the moment (${problem.message}); the page tries again.`;
    }
    setTimeout(follow, 2000);
  }

  const report = JSON.parse(document.getElementById("data").textContent);
  show(report);
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  if (report.live) follow();
})();
