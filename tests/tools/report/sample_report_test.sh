#!/usr/bin/env bash
# The sample report is made of what is committed, in one command and without training, and shows it.
source "$(dirname "$0")/../checks.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL
root=${lamina%/build/lamina}
if ! command -v npm >/dev/null; then
  echo "skipped: the report's page needs npm (tools/install-deps.sh --report)"
  skipped=9
  finish
  exit
fi

makes_it() {
  make -C "$root" --no-print-directory -s sample-report >out 2>err || { cat err; return 1; }
  ! [ -s err ] || { cat err; return 1; }
  sed -n 's|.*<script type="application/json" id="data">\(.*\)</script>.*|\1|p' "$root/report/sample.html" >data.json
  [ -s data.json ]
}
shows() {  # shows EXHIBIT EXPRESSION: of the exhibit's data, in Python
  python3 - "$1" "$2" <<'EOF'
import json, sys
exhibit = next(each for each in json.load(open("data.json"))["exhibits"] if each["id"] == sys.argv[1])
sys.exit(not eval(sys.argv[2], {"exhibit": exhibit}))
EOF
}
check "one command makes it" makes_it
check "Figure 6 has five seeds of each norm" shows figure-6 'all(curve["label"].endswith("5 seeds") for curve in exhibit["charts"][0]["curves"])'
check "beside the paper's" shows figure-6 '[curve["label"] for curve in exhibit["charts"][0]["paper"]["curves"]] == ["baseline", "batch norm", "layer norm"]'
check "and its verdict" shows figure-6 'exhibit["verdict"]["badge"]["text"].startswith("holds")'
check "the studies of later papers are there" shows study-norms 'exhibit["charts"] and exhibit["tables"]'
check "the labs are there" shows lab-gain 'exhibit["charts"] and exhibit["tables"]'
check "Table 1 is paired entry by entry, and all agree" shows table-1 'len(exhibit["tables"][0]["rows"]) == 18 and all(row["cells"][2] == "none" for row in exhibit["tables"][0]["rows"])'
check "the cells of (13) under layer norm are marked" shows section-5-2-fisher 'any(type(cell) is dict for table in exhibit["tables"] for row in table["rows"] for cell in row["cells"])'
check "nothing is left over" python3 -c 'import json; assert not json.load(open("data.json"))["leftovers"]'

finish
