#!/usr/bin/env bash
# Every relative link and picture of every page in the repository leads to a file, and every anchor to a heading.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
python3 - <<'PYTHON'
import os, re, subprocess, sys

def anchors(page):
    """As GitHub makes them of headings: lower case, without punctuation, hyphens for blanks."""
    text = re.sub(r"(?ms)^```.*?^```", "", open(page, encoding="utf-8").read())
    heads = re.findall(r"(?m)^#+ (.*)$", text)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}

pages = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], capture_output=True, text=True, check=True).stdout.split("\n")
passed = failed = 0
for page in filter(None, pages):
    text = re.sub(r"(?ms)^ *```.*?^ *```|`[^`\n]*`|\$[^$\n]*\$", "", open(page, encoding="utf-8").read())
    for link in re.findall(r"\]\(([^()\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        good = os.path.exists(target) and (not anchor or not target.endswith(".md") or anchor in anchors(target))
        passed, failed = passed + good, failed + (not good)
        if not good:
            print(f"FAILED: {page} links to {link}, which is not there")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0 or passed == 0)
PYTHON
