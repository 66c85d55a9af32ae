#!/usr/bin/env bash
# lamina inspect and lamina graph from outside: what they write, and one line for every mistake.
source "$(dirname "$0")/../checks.sh"
export LAMINA_SMOKE=1

shows() {  # shows TEXT ARGUMENT...: succeeds and prints TEXT
  local text=$1
  shift
  "$lamina" "$@" >out 2>err && grep -qF -- "$text" out && return
  sed 's/^/  | /' out err
  return 1
}

"$lamina" mnist --norm layer --record every=4 --out recorded >/dev/null || broken
"$lamina" mnist --norm none,layer --out plain >/dev/null || broken
check "the record is in the run's folder" grep -q '^9,hidden1,weight.angle.mean,,' recorded/record.csv
check "the same weights with and without a record" \
      cmp -s recorded/model.safetensors plain/layer-b128/model.safetensors
check "inspects a record" shows "In training step 9" inspect recorded --out seen
check "its tables are aligned, and fit" [ "$(grep -c '^|' out)" = 0 -a "$(awk 'length($0) > 80' out | wc -l)" = 0 ]
check "writes a table" [ -s seen/inspect.csv ]
check "and a figure" [ -s seen/inspect.svg ]
"$lamina" order-embedding --norm layer --record every=4 --out recurrent >/dev/null || broken
check "inspects recurrent layers" shows "gru hidden_weight" inspect recurrent --out recurrent
check "whose weights are in the panels of lengths, angles, changes and gradients" \
      [ "$(grep -c '<title>gru hidden_weight' recurrent/inspect.svg)" = 4 ]
check "one layer" shows "hidden1.norm.gain        [1000] " inspect recorded --layer hidden1 --out seen
check "only that layer" [ "$(grep -c logits out)" = 0 ]
check "a run without a record says how to record" shows "--record every=100" inspect plain/none-b128
check "several runs" refuses 1 "plain/layer-b128, plain/none-b128" inspect plain
check "no run" refuses 1 "nothing: is not a run's folder" inspect nothing
check "no such layer" refuses 2 "there are hidden1, hidden1.norm, hidden2" inspect recorded --layer hidden3
check "a wrong --record" refuses 2 "--record" mnist --record 100
check "--record every=0" refuses 2 "--record" mnist --record every=0
full() {  # full ARGUMENT...: lamina fails in one line when its output is a full disk
  "$lamina" "$@" 2>err >/dev/full
  [ $? = 1 ] && [ "$(wc -l <err)" = 1 ] && grep -q "standard output cannot be written" err
}
check "a record on a full disk" full inspect recorded --out seen
check "a profile on a full disk" full graph mnist --batch 4 --repeat 1 --profile
check "the list of commands on a full disk" full list
check "help on a full disk" full mnist --help
echo "13,broken" >>recorded/record.csv
check "a broken record" refuses 1 "recorded/record.csv: line" inspect recorded

check "a folder for a profile, which writes none" refuses 2 "excludes" graph mnist --batch 4 --repeat 1 --profile --out profile
check "profile" shows "hidden1       linear             1  [4 x 1000]" graph mnist --batch 4 --repeat 1 --profile
check "  with LAMINA_THREADS threads by default" grep -qF ', 3 threads;' <(LAMINA_THREADS=3 "$lamina" graph mnist --batch 4 --repeat 1 --profile)
check "  as --help says" grep -qF 'worker threads; 0: as LAMINA_THREADS says, or one per core' <("$lamina" graph --help)
check "graph" shows "17 nodes, 16 edges" graph mnist --batch 4 --repeat 1 --out graph
check "the graph is written" grep -q '^digraph' graph/tape.dot
check "graph of layers" shows "7 nodes, 6 edges" graph mnist --batch 4 --repeat 1 --collapse --out graph
check "no such experiment" refuses 2 "there are mnist, convnet" graph mnits
check "no such norm" refuses 2 "--norm group" graph mnist --norm group
ln -s "$(command -v bash)" "$scratch/bash"
check "without Graphviz the graph, and a hint" \
      env PATH="$scratch" "$lamina" graph mnist --batch 4 --repeat 1 --out bare 2>err
check "which names the remedy" grep -qF "tools/install-deps.sh" err
check "and the graph is there" [ -s bare/tape.dot ]

finish
