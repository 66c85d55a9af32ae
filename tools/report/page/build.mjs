// Puts the page together, all but its data: node build.mjs NODE_MODULES > page.html
//
// Styles and scripts go into the page where page.html names them; those of a package come from NODE_MODULES. The
// content security policy then allows these very bytes, by their hashes, and nothing else.

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const packages = process.argv[2];

function read(name) {
  const own = join(here, name);
  return readFileSync(existsSync(own) ? own : join(packages, name), "utf8").trim();
}

const hashes = { style: [], script: [] };
let page = readFileSync(join(here, "page.html"), "utf8");
page = page.replace(/<!-- license: (.*) -->/g, (_, name) => `<!--\n${name}\n\n${read(name)}\n-->`);
page = page.replace(/<!-- (style|script): (.*) -->/g, (_, tag, name) => {
  const content = `\n${read(name)}\n`;
  hashes[tag].push(`'sha256-${createHash("sha256").update(content).digest("base64")}'`);
  return `<${tag}>${content}</${tag}>`;
});
page = page.replace("@SCRIPT-HASHES@", hashes.script.join(" ")).replace("@STYLE-HASHES@", hashes.style.join(" "));
process.stdout.write(page);
