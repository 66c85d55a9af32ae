// Lays the report out.
"use strict";

(() => {
  const { make, badge, swatch, paperSwatch, command, table, checkbox, folded, fileLink } = Parts;
  const paper = "https://arxiv.org/abs/1607.06450";
  const most_switches = 12; // more curves than this are in a box that scrolls, and can be chosen all at once
  const states = new Map(); // what the reader chose, by exhibit: { hidden: labels, smooth, charts: { title: state } }
  const shown = new Map(); // by exhibit: { json, section, charts }

  const partId = (part) => "part-" + part.toLowerCase().replace(/[^a-z]+/g, "-");

  function chart(plan, exhibit, state, charts) {
    const own = (state.charts[plan.title] ??= {});
    const box = make("div", { class: "plot" });
    const key = `${exhibit.id} ${plan.title}`;
    const button = (name, what, action) => make("button", { type: "button", "data-key": `${key} ${what}`, onclick: action }, name);
    const controls = make("span", { class: "controls" },
      checkbox("log x", `${key} x`, own.logX ?? plan.log_x, (on) => charts[plan.title].setLog("logX", on)),
      checkbox("log y", `${key} y`, own.logY ?? plan.log_y, (on) => charts[plan.title].setLog("logY", on)),
      plan.paper ? button("paper's axes", "paper", () => charts[plan.title].zoomTo(plan.paper.axes)) : null,
      button("whole range", "zoom", () => charts[plan.title].unzoom()));
    const figure = make("figure", { "aria-label": `${plan.title}: ${plan.y} against ${plan.x}` },
      make("figcaption", {}, make("b", {}, plan.title), controls), box, note(plan.paper));
    return { figure, start: () => { charts[plan.title] = new Charts.Chart(box, plan, exhibit.id, state, own); } };
  }

  // What the chart has from the paper, and from where.
  function note(known) {
    if (!known) return null;
    const values = known.values.map((value) => `${value.title}: ${value.y} (${value.source})`);
    const width = known.line.log ? `a factor of ${known.line.width}` : known.line.width;
    return make("p", { class: "fine note" },
      known.left_out ? `The paper's curves and values are left out, since ours are of other things: ${known.left_out}. ` : null,
      known.curves.length ? `Pale: the paper's curves, read off its figure to within the width of a line, ${width}. They are of ${known.data}: only runs on the same data can be compared with them. ` : null,
      values.length ? `In the paper ${values.join("; ")}. ` : null, `The paper's axes: ${known.source}.`);
  }

  // A switch for each of the paper's curves.
  function paperSwitches(exhibit, state, toggle) {
    const known = exhibit.charts.flatMap((each) => each.paper?.curves ?? []);
    const curves = new Map(known.map((curve) => [Charts.paperKey(curve), curve]));
    if (curves.size === 0) return null;
    const figure = exhibit.charts.find((each) => each.paper).paper.figure;
    return make("fieldset", { class: "paper-curves" }, make("legend", {}, `Paper, read off ${figure}:`),
      [...curves].map(([key, curve]) => checkbox(curve.label, `${exhibit.id} ${key}`, !state.hidden.has(key), (on) => toggle(key, on), paperSwatch(curve.norm))));
  }

  // One switch for every curve of the exhibit, whichever charts it is in; and how much all curves are smoothed.
  function switches(exhibit, state, charts) {
    const curves = new Map(exhibit.charts.flatMap((each) => each.curves.map((curve) => [curve.label, curve])));
    if (curves.size === 0) return null;
    const toggle = (label, on) => {
      if (on) state.hidden.delete(label); else state.hidden.add(label);
      Object.values(charts).forEach((each) => each.show(label, on));
    };
    const boxes = [...curves].map(([label, curve]) =>
      checkbox(label, `${exhibit.id} ${label}`, !state.hidden.has(label), (on) => toggle(label, on), swatch(curve.norm || "other", curve.dash)));
    const setAll = (on) => boxes.forEach((item) => { if (item.firstChild.checked !== on) item.firstChild.click(); });
    const many = boxes.length > most_switches;
    const all = ["all", "none"].map((word) => make("button", { type: "button", "data-key": `${exhibit.id} ${word}`, onclick: () => setAll(word === "all") }, word));
    const list = make("fieldset", { class: many ? "switches many" : "switches" }, make("legend", {}, "Curves"), many ? all : null, boxes);
    const smoothing = make("label", { class: "smoothing" }, "smooth over ",
      make("select", { "data-key": `${exhibit.id} smooth`, onchange: (event) => {
        state.smooth = Number(event.target.value);
        Object.values(charts).forEach((each) => each.draw());
      } }, [1, 5, 15, 51].map((n) => make("option", { value: n, selected: state.smooth === n }, n === 1 ? "1 point" : `${n} points`))));
    return make("div", { class: "choices" },
      list,
      paperSwitches(exhibit, state, toggle),
      make("p", { class: "tools" }, smoothing, make("span", { class: "hint" }, "drag in a chart to zoom, double-click to leave")));
  }

  function runs(exhibit) {
    const list = exhibit.runs;
    if (list.length === 0) return null;
    return make("div", { class: "runs" }, folded(`${exhibit.id} runs`, `${list.length} ${list.length === 1 ? "run" : "runs"}: settings and commands`, list.some((run) => run.problems.length > 0),
      list.map((run) => make("div", { class: "run" },
        make("p", {}, swatch(run.norm), make("b", {}, run.path), " ", run.badges.map(badge)),
        run.problems.map((problem) => make("p", { class: "problem" }, problem)),
        command(run.command, run.path),
        run.made_with ? make("p", { class: "fine" }, run.made_with) : null))));
  }

  // Where ours stands beside the paper's numbers in pairs, the table of all rows is folded.
  function tables(exhibit) {
    const paired = exhibit.tables.some((each) => each.rows.some((row) => row.source === "pair"));
    return make("div", { class: "tables" }, exhibit.tables.map((each) =>
      (paired && each.rows.some((row) => row.source === "paper") ? folded(`${exhibit.id} ${each.title}`, "all rows of the table", false, table(each)) : table(each))));
  }

  const isPapers = (exhibit) => exhibit.part === "The paper";
  function sources(exhibit) {
    return make("p", { class: "fine sources" },
      isPapers(exhibit) ? ["Paper: ", make("a", { href: paper }, `arXiv 1607.06450, Section ${exhibit.section}`), " · "] : null,
      "Here: ", fileLink(exhibit.readme));
  }

  function head(exhibit) {
    return make("div", { class: "head" },
      make("p", { class: "kicker" }, exhibit.title, exhibit.section && !exhibit.title.startsWith("Section") ? ` · Section ${exhibit.section}` : null),
      make("h3", { id: `${exhibit.id}-title` }, exhibit.subject, " ", make("a", { class: "anchor", href: `#${exhibit.id}`, "aria-label": `link to ${exhibit.title}, ${exhibit.subject}` }, "#")),
      make("p", { class: "badges" }, exhibit.badges.map(badge)),
      exhibit.claim ? make("blockquote", {}, make("p", {}, exhibit.claim)) : null,
      Verdicts.block(exhibit),
      exhibit.finding ? make("p", { class: "finding" }, make("b", {}, "Found here: "), exhibit.finding) : null,
      exhibit.setting ? make("p", { class: "setting" }, exhibit.setting) : null,
      sources(exhibit));
  }

  // The charts, and folded those of single updates: open where they are all that moves, in a run's first epochs.
  function charted(exhibit, drawn) {
    const figures = (by_update) => drawn.filter((_, i) => Boolean(exhibit.charts[i].by_update) === by_update).map((each) => each.figure);
    const box = (list) => make("div", { class: "charts" }, list);
    const [main, updates] = [figures(false), figures(true)];
    const young = !exhibit.charts.some((plan) => !plan.by_update && plan.curves.some((curve) => curve.x.length > 2));
    return [main.length ? box(main) : null, updates.length ? folded(`${exhibit.id} updates`, "update by update: loss and gradient", young, box(updates)) : null];
  }

  // What stands above the command of an exhibit without runs: the quick one first.
  function missing(exhibit) {
    const say = (text) => make("p", { class: "not-run" }, text);
    if (exhibit.runs.length) return null;
    if (!exhibit.quick) return say("Not run here. This command does it:");
    const time = exhibit.quick.time ? `, ${exhibit.quick.time} on one core` : "";
    return make("div", {}, say(`Not run here. A first look, small and on built-in data${time}:`), command(exhibit.quick.command, `${exhibit.id} quick`),
      say("In full, on the original data:"));
  }

  function render(exhibit) {
    const state = states.get(exhibit.id) ?? { hidden: new Set(), smooth: 1, charts: {} };
    states.set(exhibit.id, state);
    const charts = {};
    const drawn = exhibit.charts.map((plan) => chart(plan, exhibit, state, charts));
    const section = make("section", { id: exhibit.id, "aria-labelledby": `${exhibit.id}-title` },
      head(exhibit),
      make("div", { class: "drawn" }, switches(exhibit, state, charts),
        charted(exhibit, drawn),
        exhibit.charts.some((plan) => plan.paper) ? make("p", { class: "fine" }, "The paper's figures are drawings: tools/paper-curves.py takes the corners of their lines from its PDF, by the marks of the axes. Nothing is measured by eye; shaded bands are left out.") : null),
      tables(exhibit),
      make("div", { class: "gallery" }, Pictures.gallery(exhibit)),
      make("div", { class: "how" }, missing(exhibit),
        command(exhibit.command, exhibit.id), runs(exhibit)));
    return { section, charts, start: () => drawn.forEach((each) => each.start()) };
  }

  // Only what is not the curves' points decides whether a section must be laid out again.
  const frameOf = (exhibit) => JSON.stringify(exhibit.charts.map((each) => [each.title, each.curves.map((curve) => curve.label), each.paper?.curves.map((curve) => curve.label)]));

  // Makes a change and leaves what is folded and focused as it was.
  function keeping(root, change) {
    const open = new Map([...root.querySelectorAll("details")].map((each) => [each.dataset.key, each.open]));
    const focused = root.contains(document.activeElement) ? document.activeElement.dataset.key ?? document.activeElement.getAttribute("href") : null;
    const now = change();
    for (const each of now.querySelectorAll("details")) if (open.has(each.dataset.key)) each.open = open.get(each.dataset.key);
    if (focused && !now.contains(document.activeElement))
      now.querySelector(`[data-key="${CSS.escape(focused)}"], [href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }

  function place(exhibit, main) {
    const json = JSON.stringify(exhibit), before = shown.get(exhibit.id);
    if (before?.json === json) return;
    const { section, charts, start } = render(exhibit), frame = frameOf(exhibit);
    if (before?.frame === frame) { // the same curves, longer: the charts stay
      for (const plan of exhibit.charts) before.charts[plan.title].update(plan);
      keeping(before.section, () => {
        for (const name of [".head", ".tables", ".gallery", ".how"])
          before.section.querySelector(`:scope > ${name}`).replaceWith(section.querySelector(`:scope > ${name}`));
        return before.section;
      });
      before.json = json;
      return;
    }
    if (before) {
      Object.values(before.charts).forEach((each) => each.destroy());
      keeping(before.section, () => { before.section.replaceWith(section); start(); return section; });
    } else {
      if (!document.getElementById(partId(exhibit.part))) main.append(make("h2", { id: partId(exhibit.part) }, exhibit.part));
      main.append(section);
      start();
    }
    shown.set(exhibit.id, { json, frame, section, charts });
  }

  // The bar that stays: the paper's figures, tables and sections by number, and the other parts.
  function contents(exhibits) {
    const kinds = new Map(["Figure", "Table", "Section"].map((kind) => [kind, new Map()]));
    for (const exhibit of exhibits.filter(isPapers)) {
      const [kind, number] = exhibit.title.split(" ");
      if (!kinds.get(kind).has(number)) kinds.get(kind).set(number, exhibit.id);
    }
    const link = (id, text, name) => make("a", { href: `#${id}`, "aria-label": name }, text);
    const others = [...new Set(exhibits.map((exhibit) => exhibit.part))];
    return make("ul", {}, make("li", {}, link("verdicts", "Verdicts")),
      [...kinds].map(([kind, numbers]) => make("li", {}, make("span", { "aria-hidden": "true" }, kind),
        [...numbers].map(([number, id]) => link(id, number, `${kind} ${number}`)))),
      others.map((part) => make("li", {}, link(partId(part), part))));
  }

  function show(report) {
    Parts.setLooks(report.looks);
    Parts.setRepository(report.repository ?? "");
    const nav = document.getElementById("contents"), overview = document.getElementById("overview");
    keeping(nav, () => { nav.replaceChildren(contents(report.exhibits)); return nav; });
    keeping(overview, () => { overview.replaceChildren(...Verdicts.overview(report.exhibits)); return overview; });
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
