#!/usr/bin/env bash
# models/run/FILES.md defines every column of every CSV file that the experiments, their studies and `inspect` write. The
# tests of the analysis commands and of the labs look at theirs.
source "$(dirname "$0")/../../tools/checks.sh"
repository=${lamina%/build/lamina}
export LAMINA_SMOKE=1
columns=$repository/tests/models/run/csv_columns.py

folders=()
trains() {  # trains FOLDER EXPERIMENT ARGUMENT...
  folders+=("$1")
  PATH=/nonexistent "$lamina" "${@:2}" --preset small --threads 1 --out "$1" >out 2>err || { tail -n 3 out err; false; }
}
check "mnist, recorded" trains mnist mnist --batch 256 --norm batch --record every=4
check "convnet" trains convnet convnet --batch 320
check "draw" trains draw draw --batch 256
check "handwriting" trains handwriting handwriting --batch 2 --length 8 --updates 60
check "order embeddings" trains order order-embedding --score order --norm layer --batch 64 --validate-every 4
check "attentive reader" trains reader attentive-reader --norm batch --batch 64 --updates 5 --validate-every 3
check "skip-thoughts" trains skip skip-thoughts --batch 64 --evaluate-every 4
check "transformer" trains transformer transformer --layers 1 --batch 16 --updates 9 --validate-every 4 --sample 0
for folder in "${folders[@]}"; do
  check "$folder writes steps.csv" [ -s "$folder/steps.csv" ]
  check "$folder is evaluated before its first update, once" [ "$(wc -l <"$folder/initial.csv")" = 2 ]
  check "and initial.csv has the columns of metrics.csv" cmp -s <(head -n 1 "$folder/initial.csv") <(head -n 1 "$folder/metrics.csv")
done
names() { head -n 1 "$1" | tr , '\n' | sort; }
mkdir none
for folder in "${folders[@]}"; do
  experiment=$(sed -n 's/^ *"experiment": "\(.*\)",$/\1/p' $folder/config.json)
  named=$(for file in $folder/metrics.csv $folder/test.csv; do [ ! -e $file ] || names $file; done |
    grep -vxE 'step|seconds|validation|report|evaluation' | sort -u | sed 's/.*/"&"/' | paste -sd ,)
  [ -e $folder/test.csv ] || named=${named/\"epoch\",/}  # the first column
  echo '{"experiment": "'$experiment'", "metrics": ['$named']}' >all.json
  check "$folder: a study may name all that $experiment measures" eval '"$lamina" study all.json --out none --tables >out'
  rm -f none/*
done

# What the report prints as the command of a run is one that lamina takes: with data that are nowhere it is not the flags that
# are refused.
mkdir report && echo '"@DATA@"' >report/page.html && cp "$lamina" program
takes_each() {  # takes_each COMMANDS
  local code count=0
  while IFS= read -r line; do
    code=0
    (lamina() { "$lamina" "$@"; } && eval "$line --data nowhere") >out 2>err || code=$?
    [ $code = 1 ] && grep -q nowhere err || { echo "  $line: $(cat err)"; return 1; }
    count=$((count + 1))
  done <"$1"
  [ $count = "${#folders[@]}" ]
}
commands() {
  python3 -c '
import json
runs = [run for exhibit in json.load(open("page.html"))["exhibits"] for run in exhibit["runs"]]
print("\n".join(sorted({run["command"] for run in runs})))'
}
./program report "${folders[@]}" --out page.html >out && commands >commands
check "each run's command in the report is one that lamina takes" takes_each commands

check "a study" trains study mnist --batch 256 --norm none,layer --seeds 1
check "statistics of positions" "$lamina" convnet --stats convnet >out
check "an inspection" "$lamina" inspect mnist --out inspected >out
check "stability" "$lamina" stability --out stability >out

for folder in order reader transformer; do  # a study knows a metric by its name alone
  check "$folder: metrics.csv and test.csv share no name but epoch" [ "$(comm -12 <(names $folder/metrics.csv) <(names $folder/test.csv))" = epoch ]
done
check "FILES.md defines every column" "$columns" "${folders[@]}" inspected stability
echo "step,novelty" >mnist/steps.csv
check "a column that it does not define is found" [ "$("$columns" mnist)" = "mnist/steps.csv: FILES.md does not define 'novelty'" ]
sed -i 's/test_error/tset_error/' mnist/metrics.csv
check "also one of an experiment" grep "mnist/metrics.csv: FILES.md does not define 'tset_error'" <("$columns" mnist) >out
finish
