#!/usr/bin/env bash
# lamina invariance, geometry and placement from outside: the files that they write, and that the float program passes on to
# the double one and prints a remedy when that is missing. Every mistake must give one line and the right exit code.
source "$(dirname "$0")/../checks.sh"
export LAMINA_SMOKE=1
(cd "${lamina%/build/lamina}" && built build/lamina-double) || exit 1

has_files() {  # has_files FOLDER FILE...: they exist and are not empty
  local folder=$1 file
  shift
  for file; do [ -s "$folder/$file" ] || { echo "  no $folder/$file"; return 1; }; done
}

"$lamina" invariance --draws 1 --magnitudes 0.1,10 --out "of theory" >out || broken
check "invariance leaves table, numbers and figure" has_files "of theory" summary.md invariance.csv invariance.svg
check "  and its settings" grep -q '"magnitudes": "0.1,10"' "of theory/config.json"
check "invariance is measured in double" grep -q "Every verdict agrees with Table 1" out
row() { grep -m2 '^layer ' out | sed '2s/^layer//' | xargs; }  # its last columns stand below the first ones
check "what it prints is in summary.md" \
      diff <(row) <(grep -m1 '^| layer' "of theory/summary.md" | tr '|' ' ' | xargs)
verdicts() { sed '/^Epsilon 1e-05/q' "$1" | grep -E '^\| [a-z-]+ \| (yes|no) ' | sed 's/ ([^)]*)//g'; }
check "models/analysis/README.md has its rows and verdicts" \
      diff <(verdicts "of theory/summary.md") <(verdicts "${lamina%/build/lamina}/models/analysis/README.md")

"$lamina" stability --steps 5 --scales 0.5,2 --out rnn >out || broken
check "stability leaves table, numbers, figure and settings" has_files rnn summary.md stability.{csv,svg} config.json
in_full_tmp() { unshare -m sh -c 'mount -t tmpfs -o size=4k none /tmp && exec "$@"' sh "$@"; }
if in_full_tmp test -x "$lamina" 2>/dev/null; then
  in_full_tmp "$lamina" stability --steps 5 --scales 0.5,2 --out full_tmp >out
  check "  a figure is whole where /tmp is full" cmp -s rnn/stability.svg full_tmp/stability.svg
else
  echo "skipped: a figure where /tmp is full: not root, or this folder is in /tmp"
  skipped=$((skipped + 1))
fi
check "  as its flags have them" grep -q '"scales": "0.5,2"' rnn/config.json

"$lamina" stability --steps 400 --scales 4 --function relu --hidden 16 --batch 2 --out overflow >out || broken
check "what has left the range grows by no number" grep -qE '^\| none \| 4 \|.*\| nan \|$' overflow/summary.md
check "  and a NaN has no sign" [ "$(cat overflow/stability.csv overflow/summary.md | grep -c -- -nan)" = 0 ]
# Without inputs h becomes so small that tanh is linear, and each step halves the gradient.
"$lamina" stability --steps 400 --scales 0.5 --input 0 --hidden 16 --batch 2 --out underflow >out || broken
check "  and what leaves it part by part grows as before" grep -qE '^\| none \| 0.5 \|.*\| 0\.500 \|$' underflow/summary.md

"$lamina" geometry --steps 1 --out geometry >out || broken
check "geometry leaves tables and figures" has_files geometry summary.md \
      {formulas,cross_terms,kl,weights,gain,turning}.csv {kl,weights,gain,turning}.svg
check "its config.json tells of LAMINA_SMOKE" grep -q '"smoke": 1' geometry/config.json
check "geometry says that its data are not MNIST" grep -q "not MNIST" out
check "(12) holds to rounding" grep -qE '^gaussian +none +[0-9.]+e-1[4-9]' out

"$lamina" placement --out placement >out || broken
check "placement leaves tables and figures" has_files placement summary.md config.json placement.csv {stream,gradient}.svg
check "placement has a row for every place" [ "$(grep -cE '^\| (post-LN|pre-LN|none|sandwich|scaled pre-LN) \|' placement/summary.md)" = 5 ]
check "post-LN's sums are 1.5 in the mean field" grep -qF "(1.500)" out

check "FILES.md defines every column" "${lamina%/build/lamina}/tests/models/run/csv_columns.py" "of theory" geometry placement

"$lamina" placement --seeds 1 --depths 2,4 --width 8 --out one >out || broken
check "one model of each depth has no spread" [ "$(grep -c '±' one/summary.md)" = 0 ]
check "  and says that it is one" grep -q "L = 2, 4, one seed\." one/summary.md
"$lamina" placement --seeds 2 --depths 2,4 --width 2 --out narrow >out || broken
check "a NaN in a table has no sign" [ "$(grep -c -- -nan narrow/summary.md)" = 0 ]

note="In the row 'none' inf and nan are numbers, or squares of them, above 1.8e308."
env -u LAMINA_SMOKE "$lamina" placement --seeds 2 --depths 4,400 --width 8 --tokens 1 --out deep >out || broken
check "numbers that outgrow a double without norms are named" grep -qxF "$note" out
check "  and only these" [ "$(grep -cF "$note" placement/summary.md)" = 0 ]
check "one depth" refuses 2 "--depths: an exponent needs two different depths" placement --depths 4
check "a depth twice" refuses 2 "--depths: 4 is given twice; once is enough" placement --depths 4,4
check "no seeds" refuses 2 "--seeds" placement --seeds 0
check "no draws" refuses 2 "--draws" invariance --draws 0
check "a negative magnitude" refuses 2 "--magnitudes" invariance --magnitudes 1,-2
check "a factor that changes nothing" refuses 2 "--magnitudes: a factor of 1 re-scales nothing" invariance --magnitudes 1
check "magnitudes that rounding would decide" refuses 2 "--magnitudes" invariance --magnitudes 100000
check "one scale" refuses 2 "--scales: a slope needs two different scales" geometry --scales 1
check "scales without 1" refuses 2 "--scales" geometry --scales 2,4
check "no steps" refuses 2 "--steps" geometry --steps 0
check "missing data" refuses 1 "nowhere" geometry --data nowhere
touch file
check "a file in the place of the folder" refuses 1 "file/x" invariance --out file/x
cp "$lamina" alone
lamina=./alone check "without lamina-double" refuses 1 "lamina-double: is needed" invariance

finish
