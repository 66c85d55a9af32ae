#!/usr/bin/env bash
# Draws figure-6.png and figure-6-dark.png: Figure 6 of the sample report (make sample-report), by day and by night, with the
# commit that drew them. Needs a clean checkout, Chromium, and what tests/tools/report/report_page_test.sh has fetched from npm.
set -euo pipefail
cd "$(dirname "$0")/../../.."
[ -z "$(git status --porcelain)" ] || { echo "draw.sh: the checkout is not clean; commit first" >&2; exit 1; }
[ -d build/report-test/node_modules ] || { echo "draw.sh: run tests/tools/report/report_page_test.sh first" >&2; exit 1; }
make --no-print-directory -s sample-report

node - "$(command -v chromium || command -v google-chrome)" <<'EOF'
const { chromium } = require(`${process.cwd()}/build/report-test/node_modules/playwright-core`);
(async () => {
  const browser = await chromium.launch({ executablePath: process.argv[2], args: ["--disable-gpu", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])] });
  for (const [colorScheme, name] of [["light", "figure-6"], ["dark", "figure-6-dark"]]) {
    const page = await browser.newPage({ viewport: { width: 1080, height: 860 }, colorScheme });
    await page.goto(`file://${process.cwd()}/report/sample.html#figure-6`);
    await page.evaluate(() => { document.getElementById("contents").hidden = true; });
    await page.locator("#figure-6 figure").first().scrollIntoViewIfNeeded();
    const top = (await page.locator("#figure-6").boundingBox()).y, charts = await page.locator("#figure-6 .charts").first().boundingBox();
    const y = top + await page.evaluate(() => scrollY);
    await page.screenshot({ path: `tools/report/figures/${name}.png`, fullPage: true, clip: { x: 0, y, width: 1080, height: charts.y + charts.height + 20 - top } });
  }
  await browser.close();
})();
EOF

python3 - "commit $(git rev-parse --short=10 HEAD)" tools/report/figures/figure-6.png tools/report/figures/figure-6-dark.png <<'EOF'
import struct, sys, zlib
text = b"tEXtSource\0" + sys.argv[1].encode()
chunk = struct.pack(">I", len(text) - 4) + text + struct.pack(">I", zlib.crc32(text))
for name in sys.argv[2:]:
    picture = open(name, "rb").read()
    open(name, "wb").write(picture[:33] + chunk + picture[33:])  # behind the header
EOF
