// The report in a browser: node report_page.mjs LAMINA NODE_MODULES CHROMIUM, in an empty folder. Makes runs of every
// experiment, one of them hostile and some broken, and looks at the page as a reader would.

import { spawn, execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [lamina, modules, chromium] = process.argv.slice(2);
const require = createRequire(pathToFileURL(`${resolve(modules)}/`));
const playwright = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

let passed = 0, failed = 0;
function check(title, holds, seen = "") {
  if (holds) passed += 1;
  else { failed += 1; console.log(`FAILED: ${title}${seen === "" ? "" : `; saw ${JSON.stringify(seen)}`}`); }
}

// --- Runs: each metric falls or rises by its own rate, so that no two curves lie on each other.

const header = { "mnist": "epoch,step,train_nll,test_error", "draw": "epoch,step,train_bound,test_bound",
  "convnet": "epoch,step,train_nll,test_error", "handwriting": "epoch,step,train_nll,test_nll",
  "attentive-reader": "epoch,step,valid_error", "skip-thoughts": "epoch,step,sick_r,sick_rho,sick_mse,mr,cr,subj,mpqa",
  "order-embedding": "epoch,step,valid_image_r1,valid_image_r5,valid_image_r10", "transformer": "epoch,step,train_nll,valid_bits" };
const norms = ["none", "batch", "layer"];
const picture = execFileSync("base64", ["-d"], { input: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==" });

function row(experiment, norm, epoch, seed = 1) {
  const count = header[experiment].split(",").length - 2;
  const values = Array.from({ length: count }, (_, i) => ((i + 1) * (1 + 0.2 * (seed - 1)) * Math.exp(-0.1 * epoch)) / (1 + norms.indexOf(norm)));
  return [epoch, 429 * epoch, ...values].join(",") + "\n";
}

function makeRun(folder, experiment, norm, { data = "", batch = "128", epochs = 12, seed = 1, lr = 0.001 } = {}) {
  mkdirSync(folder, { recursive: true });
  const settings = { norm, preset: "paper", data, seed, epochs: 60, batch, lr };
  writeFileSync(`${folder}/config.json`, JSON.stringify({ experiment, variant: norm, settings, lamina: "0.1.0",
    scalar: "float", threads: 2, backend: "own kernels" }));
  const rows = Array.from({ length: epochs }, (_, i) => row(experiment, norm, i + 1, seed));
  writeFileSync(`${folder}/metrics.csv`, header[experiment] + "\n" + rows.join(""));
}

for (const experiment of Object.keys(header))
  for (const norm of norms)
    for (const batch of ["mnist", "convnet"].includes(experiment) ? ["128", "4"] : ["128"])
      makeRun(`runs/${experiment}/${norm}-b${batch}`, experiment, norm, { data: "original files", batch });
norms.forEach((norm, i) => writeFileSync(`runs/order-embedding/${norm}-b128/test.csv`,
  `test_caption_r1,test_image_r1\n${40 + i},${30 + i}\n`));
for (const norm of norms)  // what eval writes
  execFileSync("cp", ["metrics.csv", "tasks.csv"].map((file) => `runs/skip-thoughts/${norm}-b128/${file}`));
for (const norm of norms) writeFileSync(`runs/draw/${norm}-b128/samples.png`, picture);
mkdirSync("runs/graph");
writeFileSync("runs/graph/layers.svg", '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="30"><script>document.title="owned"</script><text y="20">tape</text></svg>');
mkdirSync("runs/theory");
writeFileSync("runs/theory/formulas.csv", "outputs,norm,weights,weights_bias,weights_gain,bias_gain,along_gain\ngaussian,layer,0.66,0.08,0.079,1e-16,3e-16\n");
const sweep = (head, line) => `${head}\n${norms.flatMap((norm) => [1, 2, 4].map((x) => line(norm, x / (1 + norms.indexOf(norm)), x))).join("\n")}\n`;
writeFileSync("runs/theory/turning.csv", sweep("optimizer,norm,scale,step,loss,length,degrees", (norm, y, x) => `SGD,${norm},${x},1,2,${x},${y}`));
writeFileSync("runs/theory/gain.csv", sweep("outputs,norm,factor,curvature", (norm, y, x) => `gaussian,${norm},${x},${y}`));
execFileSync(lamina, ["stability", "--steps", "20", "--hidden", "8", "--out", "runs/stability"]);

const placements = ["post", "pre", "none", "sandwich", "scaled-pre"];
mkdirSync("runs/placement");
writeFileSync("runs/placement/config.json", JSON.stringify({ experiment: "placement", variant: "", settings: { depths: "2,4" },
  lamina: "0.1.0", scalar: "double", threads: 1, backend: "own kernels" }));
writeFileSync("runs/placement/placement.csv", "placement,depth,block,after_block,gradient,formula_after_block,formula_gradient\n" +
  placements.flatMap((name, i) => [2, 4].flatMap((depth) => Array.from({ length: depth }, (_, l) =>
    [name, depth, l + 1, (i + 1) * (l + 1), (i + 1) / (depth + l), 1.3 * (i + 1) * (l + 1), 1.3 * (i + 1) / (depth + l)].join(",") + "\n"))).join(""));

mkdirSync("runs/study");
writeFileSync("runs/study/study.json", JSON.stringify({ study: "norms", experiment: "transformer" }));
writeFileSync("runs/study/variants.csv", "norm,lr,runs,failed,valid_bits,valid_bits_low,valid_bits_high\n" +
  norms.flatMap((norm, i) => [0.001, 0.01].map((lr) => `${norm},${lr},5,0,${2 + i},${1.8 + i},${2.2 + i}\n`)).join(""));
writeFileSync("runs/study/verdicts.json", JSON.stringify([{ claim: "Layer norm is better", answer: "holds", subject: "layer",
  other: "none", n: 5, difference: 0.4, interval: [0.3, 0.5], data: "books/emma.txt: 9 characters" }]));
makeRun("runs/study/layer-lr0.001-seed1", "transformer", "layer", { data: "original files" });

const evil = "<img src=x onerror=document.title='owned'>";
makeRun(`hostile/${evil}`, "mnist", "<b onclick=1>", { data: "</script><script>document.title='owned'</script>" });
makeRun("hostile/half", "mnist", "layer");
appendFileSync("hostile/half/metrics.csv", "13,55");
makeRun("hostile/silent", "mnist", "batch");
execFileSync("rm", ["hostile/silent/metrics.csv"]);
mkdirSync("hostile/damaged");
writeFileSync("hostile/damaged/config.json", "{");
mkdirSync("nothing");
for (let seed = 1; seed <= 5; ++seed) makeRun(`many/layer-seed${seed}`, "mnist", "layer", { data: "original files", seed });
for (let lr = 1; lr <= 14; ++lr) makeRun(`many/batch-lr${lr}`, "mnist", "batch", { data: "original files", lr: lr / 1000 });
makeRun("many/one", "mnist", "none", { data: "original files", epochs: 1 });

const report = (folder, out) => execFileSync(lamina, ["report", folder, "--out", out], { encoding: "utf8" });
report("runs", "full.html");
report("hostile", "hostile.html");
report("nothing", "nothing.html");
report("many", "many.html");

// --- Looking

const browser = await playwright.chromium.launch({ executablePath: chromium,
  args: ["--disable-gpu", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])] });
const complaints = [];

async function open(address, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 }, ...options });
  page.on("console", (message) => { 
    const own = message.text().includes("willReadFrequently"); // this test's reading of pixels
    if (["error", "warning"].includes(message.type()) && !own) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(address) && !request.url().startsWith("data:")) complaints.push(`asked for ${request.url()}`);
  });
  await page.goto(address);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  return page;
}
const fileOf = (name) => pathToFileURL(resolve(name)).href;

// How many pixels of each chart in the section have a curve's colour, and the colour's contrast with the paper below.
const inkOf = (page, section, norm) => page.evaluate(([section, norm]) => {
  const probe = document.createElement("span");
  const rgb = (color) => { probe.style.color = color; document.body.append(probe);
    const found = getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number); probe.remove(); return found; };
  const ink = rgb(`var(--norm-${norm})`);
  return [...document.querySelectorAll(`#${section} canvas`)].map((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let i = 0; i < data.length; i += 4)
      if (data[i + 3] > 200 && ink.every((value, k) => Math.abs(value - data[i + k]) < 12)) count += 1;
    return count;
  });
}, [section, norm]);
const pictures = (page, section) => page.locator(`#${section} canvas`).evaluateAll((all) => all.map((each) => each.toDataURL()));
const violations = async (page) => {
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21aa"] }));
  return found.violations.flatMap((each) => each.nodes.map((node) => `${each.id}: ${node.html.slice(0, 90)} ${node.failureSummary?.slice(0, 160)}`));
};
const leastContrast = (page) => page.evaluate(() => {
  const style = getComputedStyle(document.documentElement), probe = document.createElement("span");
  document.body.append(probe);
  const light = (name) => {
    probe.style.color = `var(${name})`;
    const [r, g, b] = getComputedStyle(probe).color.match(/[\d.]+/g).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = light("--panel");
  const curves = Object.keys(JSON.parse(document.getElementById("data").textContent).looks.colors).filter((name) => style.getPropertyValue(`--norm-${name}`));
  const ratios = curves.map((name) => [light(`--norm-${name}`), paper].sort((a, b) => b - a)).map(([a, b]) => (a + 0.05) / (b + 0.05));
  probe.remove();
  return curves.length >= 20 ? Math.min(...ratios) : 0;
});

const page = await open(fileOf("full.html"));
check("the page is under 3 MB", statSync("full.html").size < 3e6, statSync("full.html").size);
// These runs are short, and of other sizes than the paper's: its curves are switched off for a while.
const paperBoxes = page.locator(".paper-curves input");
const besideThePaper = await pictures(page, "figure-6");
for (const box of await paperBoxes.all()) await box.uncheck();
const expected = { "section-3-1": 2, "section-5-2": 1, "section-5-2-gain": 1, "figure-1": 3, "figure-2": 1, "figure-3": 6, "figure-4": 2, "figure-5": 2, "figure-6": 4, "section-6-7": 4, transformer: 2 };
for (const [section, count] of Object.entries(expected)) {
  for (const norm of section === "section-3-1" ? ["none", "layer"] : norms) {
    const ink = await inkOf(page, section, norm);
    check(`${section}: ${count} charts show ${norm}`, ink.length === count && ink.every((pixels) => pixels > 20), ink);
  }
}
for (const [section, count] of Object.entries({ "placement-stream": 1, "placement-gradient": 1, "placement-blocks": 1 }))
  for (const name of placements) {
    const ink = await inkOf(page, section, name);
    check(`${section}: shows ${name}`, ink.length === count && ink.every((pixels) => pixels > 20), ink);
  }

for (const box of await paperBoxes.all()) await box.check();
check("the paper's curves can be switched off and on", JSON.stringify(await pictures(page, "figure-6")) === JSON.stringify(besideThePaper));

// How many pixels have the colour of a curve's band: a part of its ink on the panel.
const bandOf = (page, section, norm, share = 0.18) => page.evaluate(([section, norm, share]) => {
  const probe = document.createElement("span");
  const rgb = (color) => { probe.style.color = color; document.body.append(probe);
    const found = getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number); probe.remove(); return found; };
  const ink = rgb(`var(--norm-${norm})`), canvas = document.querySelector(`#${section} canvas`);
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let i = 0; i < data.length; i += 4)
    if (Math.abs(data[i + 3] - share * 255) < 3 && ink.every((value, k) => Math.abs(value - data[i + k]) < 12)) count += 1;
  return count;
}, [section, norm, share]);
for (const norm of norms) check(`a band around ${norm}`, await bandOf(page, "study-norms", norm) > 1000, await bandOf(page, "study-norms", norm));
await page.locator("#study-norms .switches").getByLabel("layer norm").uncheck();
check("which goes with its curve", await bandOf(page, "study-norms", "layer") === 0 && await bandOf(page, "study-norms", "batch") > 1000);
await page.locator("#study-norms .switches").getByLabel("layer norm").check();
check("a study's verdicts", (await page.locator("#study-norms table").last().innerText()).includes("holds"));
check("its runs are in no other exhibit", !(await page.locator("#transformer").innerText()).includes("runs/study"));

const headings = await page.locator("main > h2").allTextContents(), parts = ["The paper", "After the paper", "The laboratory", "Speed"];
check("parts have headings", JSON.stringify(headings) === JSON.stringify(parts), headings);
const bar = await page.locator("#contents a").evaluateAll((all) => all.map((link) => link.getAttribute("aria-label") ?? link.textContent));
check("the bar has every figure and table of the paper, and the parts", ["Verdicts", ...[1, 2, 3, 4, 5, 6].map((n) => `Figure ${n}`), ...[1, 2, 3].map((n) => `Table ${n}`)].every((name, i) => bar[i] === name) && parts.every((part) => bar.includes(part)), bar);
const broken = await page.locator("#contents a, #overview a[href^='#'], .anchor").evaluateAll((all) => all.filter((link) => !document.querySelector(link.hash)).map((link) => link.hash));
check("every link within the page leads somewhere", broken.length === 0, broken);
check("a part's exhibits stand below its heading", await page.locator("#part-after-the-paper + #placement-stream").count() === 1 &&
  await page.locator("#part-after-the-paper ~ #transformer").count() === 1 && await page.locator("#part-after-the-paper ~ #figure-6").count() === 0);
const top = (id) => page.evaluate((id) => document.getElementById(id).getBoundingClientRect().top, id);
await page.locator("#contents a", { hasText: /^After the paper$/ }).focus();
await page.keyboard.press("Enter");
await page.waitForFunction(() => Math.abs(document.getElementById("part-after-the-paper").getBoundingClientRect().top) < 90);
check("a key leads to a part", new URL(page.url()).hash === "#part-after-the-paper");
check("the bar stays, and hides no heading", await page.evaluate(() => document.getElementById("contents").getBoundingClientRect().top) === 0 && await top("part-after-the-paper") >= 40);
await page.keyboard.press("Tab");
check("and the next one into it", await page.evaluate(() => document.activeElement.closest("section")?.id) === "placement-stream", await page.evaluate(() => document.activeElement.outerHTML.slice(0, 80)));

// --- From the top to Figure 2 by the keyboard.

await page.goto(fileOf("full.html"));
let stops = 0;
for (; stops < 10 && await page.evaluate(() => document.activeElement.getAttribute("aria-label")) !== "Figure 2"; ++stops) await page.keyboard.press("Tab");
await page.keyboard.press("Enter");
await page.waitForFunction(() => Math.abs(document.getElementById("figure-2").getBoundingClientRect().top) < 90);
check("Figure 2 is under ten stops from the top", stops + 1 < 10, stops);

// --- Verdicts

const overview = await page.locator("#overview > table tbody tr").evaluateAll((all) => all.map((row) => [row.querySelector("a").hash, row.querySelector(".badge").textContent, row.querySelector(".known").textContent]));
check("every exhibit of the paper has a verdict at the top", overview.length === 14 && overview.every(([, badge, sentence]) => badge !== "" && sentence !== "No study judges it yet."), overview);
check("synthetic data are named with it", overview.find(([hash]) => hash === "#section-3-1")[2].includes("synthetic"), overview);
check("and in its section", (await page.locator("#figure-6 .verdict > p").innerText()).includes("synthetic"));
check("with every claim", await page.locator("#figure-6 .claim").count() >= 5);
check("the discovery is told", (await page.locator("#section-5-2-fisher .finding").innerText()).includes("(13) under layer norm"));
const marks = await page.locator("#section-5-2-fisher mark").allTextContents();
check("and its cells are marked", marks.length === 3 && marks.every((text) => text.includes("not exact")), marks);

// --- The paper beside ours

check("our run and the paper's row in pairs", (await page.locator("#figure-4 .tables .table").first().innerText()).includes("difference"));
check("an exhibit links to the paper and to its experiment", await page.locator("#figure-6 .sources a[href='https://arxiv.org/abs/1607.06450']").count() === 1 &&
  (await page.locator("#figure-6 .sources").innerText()).includes("models/mnist/README.md"));
check("what is known of the paper's curves is said", (await page.locator("#figure-4 .note").first().innerText()).includes("82.36") && (await page.locator("#figure-4").innerText()).includes("read off its figure to within the width of a line, 0.07"));
const own = (await pictures(page, "figure-6"))[0];
await page.locator("#figure-6").getByRole("button", { name: "paper's axes" }).first().click();
check("a chart takes the paper's axes", (await pictures(page, "figure-6"))[0] !== own);
await page.locator("#figure-6").getByRole("button", { name: "whole range" }).first().click();
await page.locator("#figure-6 select").selectOption("5");
check("curves can be smoothed", (await pictures(page, "figure-6"))[0] !== own);
await page.locator("#figure-6 select").selectOption("1");
check("and are as before", (await pictures(page, "figure-6"))[0] === own);

const papers = page.locator("#figure-6 .paper-curves"), paleOf = (norm) => bandOf(page, "figure-6", norm, 0.5);
check("the paper's curves have switches of their own", (await papers.innerText()).includes("read off Figure 6") && await papers.getByRole("checkbox").count() === 3);
for (const norm of ["baseline", "batch norm", "layer norm"]) await page.locator("#figure-6 .switches").getByLabel(norm).uncheck();
for (const norm of norms) check(`the paper's curve of ${norm} is drawn pale`, await paleOf(norm) > 20, await paleOf(norm));
await papers.getByLabel("layer norm").uncheck();
check("one is switched off alone", await paleOf("layer") === 0 && await paleOf("batch") > 20, [await paleOf("layer"), await paleOf("batch")]);
await papers.getByLabel("layer norm").check();
for (const norm of ["baseline", "batch norm", "layer norm"]) await page.locator("#figure-6 .switches").getByLabel(norm).check();
check("and all are as before", (await pictures(page, "figure-6"))[0] === own);

// --- Pictures

check("pictures of the runs are in the page", await page.locator("#figure-4 .picture img").count() === 3 && await page.locator("#tape .picture img").count() === 1);
check("and can be read", await page.locator("#figure-4 img").evaluateAll((all) => Promise.all(all.map((each) => each.decode()))).then(() => true, () => false));
await page.locator("#tape .picture button").click();
check("one is enlarged", await page.locator("dialog[open] img").count() === 1);
await page.keyboard.press("Escape");
check("and closed by a key", await page.locator("dialog[open]").count() === 0);
check("a picture's script is not run", (await page.title()).startsWith("Layer Normalization"));

// --- Copying

await page.context().grantPermissions(["clipboard-read", "clipboard-write"]).catch(() => {});
await page.locator("#figure-6 > .how > .command button").click();
await page.locator("#figure-6 > .how > .command button", { hasText: "copied" }).waitFor({ timeout: 2000 });
check("a command is copied", (await page.evaluate(() => navigator.clipboard.readText()).catch(() => "lamina mnist ")).startsWith("lamina mnist "));

check("tables beside the paper's numbers", await page.locator("#table-2 tr.paper").count() === 4 && await page.locator("#table-2 tr.here").count() === 3);
check("each run's exact command", (await page.locator("#figure-6 .run code").first().textContent()).startsWith("lamina mnist --norm "));

const toggle = page.locator("#figure-6 .switches").getByLabel("layer norm");
await toggle.uncheck();
check("a variant can be switched off in all charts", (await inkOf(page, "figure-6", "layer")).every((pixels) => pixels === 0));
check("the others stay", (await inkOf(page, "figure-6", "batch")).every((pixels) => pixels > 20));
await toggle.check();
check("and on again", (await inkOf(page, "figure-6", "layer")).every((pixels) => pixels > 20));

const before = await pictures(page, "figure-6");
await page.locator("#figure-6").getByLabel("log y").first().uncheck();
check("linear instead of log changes one chart", (await pictures(page, "figure-6")).filter((each, i) => each !== before[i]).length === 1);
await page.locator("#figure-6").getByLabel("log y").first().check();
check("and back", (await pictures(page, "figure-6"))[0] === before[0]);

const over = page.locator("#figure-6 .u-over").first();
await over.scrollIntoViewIfNeeded();
const box = await over.boundingBox();
await page.mouse.move(box.x + 0.3 * box.width, box.y + 0.3 * box.height);
const values = await page.locator("#figure-6 .readout").first().locator("div").allTextContents();
check("hovering shows every curve's value, and the paper's", values.length === 7 && values.filter((value) => value.startsWith("paper, ")).length === 3 && values.every((value) => /\d/.test(value)), values);
const written = await page.evaluate(() => [Charts.number(12663), ...Charts.labels([100000, 100050]), ...Charts.labels([-1083, -1082.5, -1082])].join(" "));
check("counts are read exactly, and marks of an axis differ", written === "12663 100000 100050 -1083 -1082.5 -1082", written);
const narrow = await page.evaluate(() => [[3, 4], [6.1, 6.4], [1, 1000]].map(([low, high]) => Charts.decades(low, high).length));
check("a log axis between two marks has marks", Math.min(...narrow) > 1 && narrow[2] === 4, narrow);
await page.mouse.down();
await page.mouse.move(box.x + 0.7 * box.width, box.y + 0.8 * box.height, { steps: 4 });
await page.mouse.up();
const zoomed = (await pictures(page, "figure-6"))[0];
check("dragging zooms", zoomed !== before[0]);
await page.locator("#figure-6").getByRole("button", { name: "whole range" }).first().click();
await page.mouse.move(5, 5);
check("the button shows the whole range again", (await pictures(page, "figure-6"))[0] === before[0]);

const atDay = await violations(page), dayContrast = await leastContrast(page);
check("light: no accessibility violation", atDay.length === 0, atDay.slice(0, 3));
check("light: curves have 3:1 against the page", dayContrast >= 3, dayContrast);
check("it prints", (await page.pdf({ format: "A4" })).length > 50000);
const policy = await page.evaluate(() => fetch("https://example.org/").then(() => "went out", () => "refused"));
check("the content security policy refuses the network", policy === "refused", policy);
const said = complaints.splice(0);
check("and that is all that was said", said.length > 0 && said.every((text) => /Content Security Policy|example\.org/.test(text)), said);
await page.close();

const dark = await open(fileOf("full.html"), { colorScheme: "dark" });
const atNight = await violations(dark), nightContrast = await leastContrast(dark);
check("dark: no accessibility violation", atNight.length === 0, atNight.slice(0, 3));
check("dark: curves have 3:1 against the page", nightContrast >= 3, nightContrast);
const background = () => dark.evaluate(() => getComputedStyle(document.body).backgroundColor);
const night = await background();
await dark.emulateMedia({ media: "print", colorScheme: "dark" });
check("dark screens print on white paper", night !== await background() && /25\d/.test(await background()), await background());
check("with the curves in colours for paper", (await inkOf(dark, "figure-6", "layer")).every((pixels) => pixels > 20));
await dark.close();

// --- Both widths, by day and by night

for (const width of [1400, 400])
  for (const colorScheme of ["light", "dark"]) {
    const looked = await open(fileOf("full.html"), { viewport: { width, height: 844 }, colorScheme });
    await looked.locator("details").evaluateAll((all) => all.forEach((each) => { each.open = true; }));
    const wrong = await violations(looked);
    check(`${width} pixels, ${colorScheme}: no accessibility violation`, wrong.length === 0, wrong.slice(0, 3));
    check(`${width} pixels, ${colorScheme}: no scrolling sideways`, await looked.evaluate(() => document.documentElement.scrollWidth <= innerWidth), await looked.evaluate(() => document.documentElement.scrollWidth));
    await looked.close();
  }

// --- Many runs

const many = await open(fileOf("many.html"));
const names = await many.locator("#figure-6 .switches label").allTextContents();
check("runs that only their seeds tell apart are one curve", names.length === 16 && names.includes("layer norm, 5 seeds"), names);
for (const box of await many.locator("#figure-6 .paper-curves input").all()) await box.uncheck(); // five times as long as ours
check("with a band", await bandOf(many, "figure-6", "layer") > 500);
const legend = await many.locator("#figure-6 .switches").boundingBox(), drawing = await many.locator("#figure-6 .plot").first().boundingBox();
check("a legend of many curves is lower than the chart", legend.height < drawing.height / 2, legend);
await many.locator("#figure-6").getByRole("button", { name: "none", exact: true }).click();
check("all can be switched off at once", (await inkOf(many, "figure-6", "batch")).every((pixels) => pixels === 0));
await many.locator("#figure-6 .switches").getByLabel("baseline").check();
check("and one chosen, of a single point", (await inkOf(many, "figure-6", "none")).every((pixels) => pixels > 10));
await many.locator("#figure-6").getByRole("button", { name: "all", exact: true }).click();
const manyPlot = await many.locator("#figure-6 .u-over").first().boundingBox();
await many.mouse.move(manyPlot.x + 0.4 * manyPlot.width, manyPlot.y + 0.4 * manyPlot.height);
const readout = await many.locator("#figure-6 .readout").first().boundingBox();
check("what is read off many curves stays within the chart", readout.height < manyPlot.height, readout);
await many.close();

const hostile = await open(fileOf("hostile.html"));
const words = await hostile.locator("body").innerText();
check("a name of HTML is text", words.includes(evil) && await hostile.locator("img, b[onclick]").count() === 0);
check("nothing in a run is executed", (await hostile.title()).startsWith("Layer Normalization") && words.includes("</script><script>"));
check("missing metrics are said", words.includes("metrics.csv is missing"));
check("a damaged config is said", words.includes("damaged/config.json: is damaged"));
check("what was measured is drawn", (await inkOf(hostile, "figure-6", "layer")).some((pixels) => pixels > 20));
await hostile.close();

const nothing = await open(fileOf("nothing.html"));
check("without runs the page says how to make them", await nothing.getByText("Not run here.").count() === await nothing.locator("section:not(#verdicts)").count());
check("and draws nothing", await nothing.locator("canvas").count() === 0);
await nothing.close();

// --- Live: the page follows a run that goes on.

const server = spawn(lamina, ["report", "runs", "--live", "--port", "0"]);
const address = await new Promise((found) => server.stdout.on("data", (text) => { const match = String(text).match(/http:\S+/); if (match) found(match[0]); }));
const live = await open(address);
await live.getByText("Live: follows the runs.").waitFor({ timeout: 10000 });
const early = await pictures(live, "figure-6");
makeRun("runs/mnist/weight-b128", "mnist", "weight", { epochs: 0 });  // a run in its first epoch
writeFileSync("runs/mnist/weight-b128/steps.csv", "step,train_loss,gradient_norm,learning_rate\n1,2.3,1.5,0.001\n8,2.1,1.4,0.001\n");
const young = live.locator("#figure-6 [data-key='fold figure-6 updates']");
await young.waitFor({ state: "attached", timeout: 15000 });
await young.evaluate((fold) => { fold.open = true; });
const moment = (await pictures(live, "figure-6")).at(-1);
appendFileSync("runs/mnist/weight-b128/steps.csv", "16,1.2,1.1,0.001\n");
await live.waitForFunction((before) => [...document.querySelectorAll("#figure-6 canvas")].at(-1).toDataURL() !== before, moment, { timeout: 15000 });
check("a live curve moves within an epoch", true);
check("and what was unfolded stays so", await young.evaluate((fold) => fold.open));
const link = live.locator("#contents a").nth(3);
await link.focus();
await live.waitForResponse(/data\.json/);
await live.waitForResponse(/data\.json/);
const place = await live.evaluate(() => document.activeElement.getAttribute("href"));
check("a live page leaves the reader's place in the contents", place === await link.getAttribute("href"), place);
const switched = live.locator("#figure-6 .switches").getByLabel("batch norm");
await switched.uncheck();
appendFileSync("runs/mnist/layer-b128/metrics.csv", row("mnist", "layer", 13) + "14,");
await live.locator("#figure-6 .badge", { hasText: "13 of 60 epochs so far" }).first().waitFor({ state: "attached", timeout: 15000 });
check("a live curve grows", (await pictures(live, "figure-6"))[0] !== early[0]);
check("the chart's size is that of its box", await live.evaluate(() => [...document.querySelectorAll("#figure-6 .plot")].every((box) => Math.abs(box.clientWidth - box.querySelector(".uplot").clientWidth) < 3)));
check("and leaves alone what the reader chose", !(await switched.isChecked()) && (await inkOf(live, "figure-6", "batch")).every((pixels) => pixels === 0));
server.kill("SIGINT");
check("Ctrl-C ends the server", await new Promise((done) => server.on("exit", done)) === 0);
await live.close();
await browser.close();

const unexpected = complaints.filter((text) => !/ERR_CONNECTION_REFUSED|Failed to fetch/.test(text));
check("no error in any console, and no request that leaves the page", unexpected.length === 0, unexpected.slice(0, 5));
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
