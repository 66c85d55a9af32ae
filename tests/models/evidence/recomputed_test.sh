#!/usr/bin/env bash
# Every verdict and number of the committed studies, computed again from numbers.json by another program; and that it notices another number.
set -uo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
again=$root/tests/models/evidence/recomputed.py
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
passed=0 failed=0
check() {  # check TITLE CONDITION-COMMAND...
  local title=$1
  shift
  if "$@" >out; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAILED: $title" && cat out; fi
}
changed() {  # changed FILE FROM TO TEXT: with the first FROM of one study's FILE so changed, the program fails and says TEXT
  mkdir -p copy/models/draw/results && cp -r "$root/models/draw/studies" copy/models/draw
  cp -r "$root/models/draw/results/figure-4-small" copy/models/draw/results
  sed -i "0,/$2/s//$3/" "copy/models/draw/results/figure-4-small/$1"
  ! cmp -s "copy/models/draw/results/figure-4-small/$1" "$root/models/draw/results/figure-4-small/$1" || return 1
  ! python3 "$again" copy >said || return 1
  cat said && grep -qF -- "$4" said
}
check "the committed studies" python3 "$again" "$root"
check "another verdict" changed verdicts.json '"answer": "cannot be told"' '"answer": "holds"' "claim 1: answer is holds, and cannot be told"
check "another end of an interval" changed verdicts.json '\(1\.1[0-9]*\)\([0-9]\),$' '1.3,' "claim 1: low is 1.3"
check "another variant" changed verdicts.json '"layer-lr0.01"' '"layer-lr0.003"' "claim 1: subject is layer-lr0.003"
check "another cell of a pair" changed summary.md '| 1 | [0-9]* |' '| 1 | 10 |' "claim 1: pairs is"
check "another time at a level" changed summary.md '| layer-lr0.01 | [0-9]* (' '| layer-lr0.01 | 21 (' "levels of test_bound"
check "another range" changed variants.csv 'none,0.003,5,0,[0-9.]*' 'none,0.003,5,0,100' "none-lr0.003: train_bound is 100.0"
check "another measurement" changed numbers.json '"valid_bound":\[[0-9.]*' '"valid_bound":[50' "none-lr0.001"
first_epochs() {  # the runs of figure-6-batches are those of two other studies, of which it has ten epochs
  python3 - "$root/models/mnist/results" <<'PYTHON'
import json, pathlib, sys

runs = {name: json.loads((pathlib.Path(sys.argv[1]) / name / "numbers.json").read_text())["runs"]
        for name in ("figure-6-batches", "figure-6-b128-rates", "figure-6-b4")}
assert len(runs["figure-6-batches"]) == 20
for name, run in runs["figure-6-batches"].items():
    variant, batch, seed = name.replace("-batch128", " b128-rates ").replace("-batch4", " b4 ").split()
    whole = runs["figure-6-" + batch][variant + seed]["curves"]
    assert run["curves"] == {column: values[:10] for column, values in whole.items()}, name
PYTHON
}
check "a study made of others' runs" first_epochs
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
