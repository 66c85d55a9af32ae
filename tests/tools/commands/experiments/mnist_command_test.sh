#!/usr/bin/env bash
# The lamina program from outside: killed and resumed runs, Ctrl-C, bad input. Every mistake must give one line that
# names the file or flag, and the right exit code; nothing that was saved may be lost.
source "$(dirname "$0")/../../checks.sh"
export LAMINA_SMOKE=3  # 1280 training cases and at most three epochs

# --- usage: exit code 2
check "batch 0" refuses 2 "--batch" mnist --batch 0
check "negative learning rate" refuses 2 "--lr" mnist --lr -1
check "a momentum of 1" refuses 2 "--momentum" mnist --optimizer sgd --lr 0.1 --momentum 1
check "Adam has no momentum" refuses 2 "--momentum 0.9: it is SGD's" mnist --momentum 0.9 --out heavy
check "  and no folder is left of it" [ ! -e heavy ]
check "SGD needs its learning rate" refuses 2 "--optimizer sgd: give its learning rate with --lr" mnist --optimizer sgd
check "unknown norm" refuses 2 "--norm" mnist --norm group
check "unknown flag" refuses 2 "--nrom: there is no such flag; did you mean --norm?" mnist --nrom layer
check "unknown command" refuses 2 "mnits: there is no such command; did you mean mnist?" mnits --epochs 5
check "what is no number" refuses 2 "--lr: abc is not a number above 0; see lamina mnist --help" mnist --lr abc
check "less than is allowed" refuses 2 "--epochs: -1 is not a whole number from 1 up; see" mnist --epochs -1
check "no command" refuses 2 "name a command; see lamina --help"
check "a flag without its command" refuses 2 "--threads: there is no such flag" --threads 1
check "resume without a folder" refuses 2 "--resume" mnist --resume
on_all_data() (unset LAMINA_SMOKE; "$@")
check "more epochs than can be counted" on_all_data \
      refuses 2 "--epochs 4611686018427387904" mnist --epochs 4611686018427387904 --batch 13750 --out endless
check "and no folder is left of them" [ ! -e endless ]
check "batch larger than the data" refuses 2 "--batch 100000" mnist --batch 100000 --out large
check "more training cases than there are" refuses 2 "--train-on 1281: there are 1280" mnist --train-on 1281 --out few
check "no training cases, which would be all of them" refuses 2 "--train-on: 0 is not" mnist --train-on 0 --out few
check "a batch larger than what is trained on" refuses 2 "--batch 128: there are only 100" mnist --train-on 100 --out few
check "and no folder is left of them" [ ! -e few ]
for norm in batch batch-renorm; do
  check "$norm of single cases, before the variants in front are trained" refuses 2 "--batch 1: a single case has no variance, which --norm $norm needs" \
    mnist --norm "layer,$norm" --batch 2,1 --out single
done
check "and no folder is left of it" [ ! -e single ]
mkdir taken && echo '{}' >taken/config.json
check "a folder that holds a run" refuses 2 "--out taken" mnist --out taken

# --- data: exit code 1
check "missing data folder" refuses 1 "nowhere" mnist --data nowhere --out a
check "resume what is no run" refuses 1 "nothing/config.json" mnist --resume --out nothing
touch file
check "a file in the place of the folder" refuses 1 "file" mnist --out file/run
broken_data() {  # broken_data NAME BYTES-COMMAND: a data folder whose files are all these bytes
  mkdir -p "$1"
  for file in {train,t10k}-{images-idx3,labels-idx1}-ubyte; do eval "$2" >"$1/$file"; done
}
broken_data empty "true"
check "empty images" refuses 1 "train-images-idx3-ubyte" mnist --data empty --out b
broken_data magic "printf 'not an IDX file'"
check "wrong magic" refuses 1 "train-images-idx3-ubyte" mnist --data magic --out c
broken_data gzip "printf '\037\213\010\000broken'"
check "corrupt gzip" refuses 1 "train-images-idx3-ubyte" mnist --data gzip --out d

# --- the same run: uninterrupted, killed in the middle of an epoch, stopped by Ctrl-C
run=(mnist --norm batch --batch 4 --threads 2 --seed 5 --epochs 3)
killed_and_resumed "${run[@]}"
# The state ends with Adam's two moments, 7.2 MB each; its header holds the time spent, which differs.
moments() { tail -c 14000000 "$1/state"; }
same_weights() { cmp -s whole/model.safetensors "$1/model.safetensors" && cmp -s <(moments whole) <(moments "$1"); }
check "killed and resumed: the same weights and moments, bit for bit" same_weights killed

"$lamina" "${run[@]}" --out stopped >out &
victim=$!
for _ in $(seq 600); do [ -e stopped/config.json ] && break; sleep 0.05; done
sleep 0.4
kill -TERM $victim  # like Ctrl-C, which background programs of a shell ignore
wait $victim
check "an interrupted run saves and exits with 130" [ $? = 130 ]
"$lamina" mnist --resume --out stopped >/dev/null || broken
check "stopped and resumed: the same weights, bit for bit" same_weights stopped

# --- a save that fails
(ulimit -f 1000; trap '' XFSZ; refuses 1 "cannot be written" mnist --norm none --batch 4 --out limited) && limited=0 || limited=1
check "no space: one line" [ $limited = 0 ]
check "no space: no broken checkpoint" [ ! -e limited/state ]

# --- a damaged checkpoint is refused
head -c 1000 whole/state >taken/state
cp whole/config.json taken/config.json
check "truncated state" refuses 1 "taken/state" mnist --resume --out taken

# --- SGD with momentum: its settings and its velocity are the run's
sgd=(mnist --norm layer --batch 8 --threads 1 --seed 5 --optimizer sgd --lr 0.02 --momentum 0.9)
rm -rf whole killed
killed_and_resumed "${sgd[@]}"
check "SGD's settings are in config.json" grep -q '"momentum": 0.9' whole/config.json
check "SGD learns" awk -F, 'NR == 2 { first = $3 } END { exit !($3 < first) }' whole/metrics.csv
check "another momentum" refuses 2 "--momentum 0.5: the run in killed began with 0.9" mnist --resume --out killed --momentum 0.5

finish
