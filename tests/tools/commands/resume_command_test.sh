#!/usr/bin/env bash
# --resume from outside: flags that differ from the run's, what the environment changes, two processes with one folder,
# runs that stop in the middle of a period, models that diverged, output that nothing reads.
source "$(dirname "$0")/../checks.sh"
export LAMINA_SMOKE=2
run=(mnist --norm none --batch 512 --threads 1 --seed 5)
"$lamina" "${run[@]}" --out run >/dev/null || exit 1

# --- flags
check "another learning rate" refuses 2 "--lr 0.01: the run in run began with 0.001; leave it out" mnist --resume --out run --lr 0.01
check "another batch" refuses 2 "--batch 256: the run in run began with 512" mnist --resume --out run --batch 256
check "another seed" refuses 2 "--seed 6: the run in run began with 5" mnist --resume --out run --seed 6
check "another norm" refuses 2 "--norm layer: the run in run began with none" mnist --resume --out run --norm layer
check "a record" refuses 2 "--record every=3: the run in run began with every=0" mnist --resume --out run --record every=3
check "the same flags" "$lamina" "${run[@]}" --resume --out run --lr 1e-3 >/dev/null
check "LAMINA_SMOKE is in config.json" grep -q '"smoke": 2' run/config.json
check "another LAMINA_SMOKE" env LAMINA_SMOKE=1 bash -c "! '$lamina' mnist --resume --out run 2>err"
check "  and it is named" grep -qF "LAMINA_SMOKE 1: the run in run began with 2" err
check "without LAMINA_SMOKE" env -u LAMINA_SMOKE timeout 20 "$lamina" mnist --resume --out run >/dev/null
refuses_other_flags() {  # refuses_other_flags FLAG VALUE BEGAN COMMAND ARGUMENT...: the run of COMMAND ARGUMENT... began with BEGAN
  local flag=$1 value=$2 began=$3
  shift 3
  LAMINA_SMOKE=1 timeout 60 "$lamina" "$@" --threads 1 --preset small --out "$1" >/dev/null || return 1
  LAMINA_SMOKE=1 refuses 2 "$flag $value: the run in $1 began with $began" "$1" --resume --out "$1" "$flag" "$value"
}
check "handwriting's updates" refuses_other_flags --updates 8 2 handwriting --updates 2 --length 10 --batch 2
check "skip-thoughts' condition" refuses_other_flags --condition initial every-step skip-thoughts --condition every-step
check "the reader's gains" refuses_other_flags --gain 0.5 0.1 attentive-reader --gain 0.1 --updates 2
"$lamina" attentive-reader --preset small --norm none --updates 2 --threads 1 --out ungained >/dev/null
check "  of a run that has none" refuses 2 "--gain 0.5: the run in ungained began with none; leave it out" attentive-reader --resume --out ungained --gain 0.5
check "order-embedding's score" refuses_other_flags --score order cosine order-embedding --score cosine

# --- folders of variants that are there already
several=(mnist --norm none,layer --batch 512 --threads 1 --seed 9 --epochs 1 --out several)
"$lamina" mnist --norm none --batch 512 --threads 1 --seed 9 --epochs 1 --lr 0.1 --out several/none-b512 >/dev/null
check "a variant's folder of another rate" refuses 2 "--lr 0.001: the run in several/none-b512 began with 0.1; give the same, or" "${several[@]}"
check "  before anything is trained" [ ! -e several/config.json ]
check "a variant's folder of another record" refuses 2 "--record every=5: the run in several/none-b512 began with every=0" "${several[@]}" --lr 0.1 --record every=5
check "one with the same settings is gone on with" "$lamina" "${several[@]}" --lr 0.1 >/dev/null
sed 's/"epochs": 1/"epochs": 2/' several/none-b512/config.json >longer
find several -maxdepth 1 -type f -delete
check "and for longer" "$lamina" mnist --norm none,layer --batch 512 --threads 1 --seed 9 --epochs 2 --lr 0.1 --out several >/dev/null
check "  which its config.json says, and changes nothing else" cmp -s longer several/none-b512/config.json
find several -maxdepth 1 -type f -delete
check "a shorter one leaves it as it was trained" "$lamina" "${several[@]}" --lr 0.1 >/dev/null
check "  and says so" cmp -s longer several/none-b512/config.json
sed -i 's/"lr": 0.1/"lr": 0.2/' several/layer-b512/config.json
check "the same with --resume" refuses 2 "--lr 0.1: the run in several/layer-b512 began with 0.2" mnist --resume --out several
rm several/layer-b512/config.json
check "a variant without its config.json" refuses 2 "several/layer-b512: holds a run whose config.json is missing; restore" mnist --resume --out several
falling=(transformer --preset small --validate-every 5 --sample 0 --out falling)
"$lamina" "${falling[@]}/pre-none" --norm none --updates 5 >/dev/null
check "a variant's folder whose rate has fallen" refuses 2 "--updates 9: the run in falling/pre-none began with 5; give the same, or" \
  "${falling[@]}" --norm none,layer --updates 9

# --- a run that is to become longer
tiny=(mnist --preset small --train-on 256 --batch 128 --threads 1 --seed 4)
whole() { env -u LAMINA_SMOKE "$lamina" "$@" >out 2>err || broken out err; }
same_run() {  # same_run FOLDER FOLDER: but for the seconds
  cmp -s "$1/config.json" "$2/config.json" && cmp -s "$1/model.safetensors" "$2/model.safetensors" &&
    cmp -s <(without_seconds "$1/metrics.csv") <(without_seconds "$2/metrics.csv") && cmp -s "$1/steps.csv" "$2/steps.csv"
}
whole "${tiny[@]}" --norm none,layer --epochs 3 --out asked
whole "${tiny[@]}" --norm layer --epochs 1 --out one
whole mnist --resume --epochs 3 --out one
check "a run goes on to more epochs as if it had been asked for them" same_run asked/layer-b128 one
check "less than it has" refuses 2 "--epochs 2: the run in one began with 3; leave it out" mnist --resume --epochs 2 --out one
check "another rate for the rest" refuses 2 "--lr 0.1: the run in one began with 0.001" mnist --resume --epochs 5 --lr 0.1 --out one
check "  and config.json is as it was" grep -q '"epochs": 3' one/config.json
whole "${tiny[@]}" --norm none,layer --epochs 2 --out both
whole mnist --resume --epochs 3 --out both
check "  all variants" eval 'same_run asked/none-b128 both/none-b128 && same_run asked/layer-b128 both/layer-b128'
check "  and what they have in common" cmp -s asked/config.json both/config.json
rm -r both/layer-b128 && cp -r asked/layer-b128 both
whole mnist --resume --epochs 4 --out both
check "  from wherever each is" [ "$(tail -q -n 1 both/*/metrics.csv | cut -d , -f 1,2 | sort -u)" = 4,8 ]
check "updates of a run that ends by epochs" eval '(unset LAMINA_SMOKE; whole handwriting --length 10 --batch 64 --epochs 1 --out line &&
  refuses 2 "--updates 900: the run in line began with 0; leave it out" handwriting --resume --updates 900 --out line)'
check "a rate that falls" refuses 2 "--updates 9: the run in falling/pre-none began with 5; leave it out" transformer --resume --out falling/pre-none --updates 9

# --- --data as seen from another directory
mkdir -p here/books there/books
for _ in $(seq 30); do echo "It was tea time, and she went on."; done >here/books/emma.txt
tr et te <here/books/emma.txt >there/books/emma.txt
books=(transformer --preset small --layers 1 --updates 2 --validate-every 1 --batch 8 --length 8 --sample 10 --threads 1 --data books)
(cd here && "$lamina" "${books[@]}" --out ../read >/dev/null 2>err) || broken here/err
check "another folder of that name" eval '(cd there && refuses 2 "--data books: the run in ../read began with $(dirname "$PWD")/here/books, which is another folder" transformer --resume --out ../read)'
check "no folder of that name" refuses 2 "--data books: the run in read began with $PWD/here/books" transformer --resume --out read
check "the same one" eval '(cd here && "$lamina" transformer --resume --out ../read >/dev/null)'
check "  by another way" eval '(cd here && mkdir -p deeper && ln -s ../books deeper/books && cd deeper && "$lamina" transformer --resume --out ../../read >/dev/null)'
(cd here && "$lamina" "${books[@]}" --out ../both/pre-layer >/dev/null 2>err) || broken here/err
mkdir moved && mv here/books moved
check "moved with its data" eval '(cd moved && "$lamina" transformer --resume --out ../read >/dev/null)'
ln -s books here/books  # its old place cannot be looked into, as one of somebody else
check "  whose old place cannot be looked into" eval '(cd moved && "$lamina" transformer --resume --out ../read >/dev/null)'
rm here/books
check "moved without" refuses 1 "--data books: the run in read began with that folder, which is not here; put it back" transformer --resume --out read
cp read/vocabulary.txt alphabet
tr et te <moved/books/emma.txt >other && cp other moved/books/emma.txt
check "a book that has changed" eval '(cd moved && refuses 1 "--data books: its files are not those that the run in ../read began with; put them back" transformer --resume --out ../read)'
check "  and the run's alphabet is not replaced" cmp -s read/vocabulary.txt alphabet
tr et te <other >moved/books/emma.txt && mv other moved/books/more.txt
check "a book that is new" eval '(cd moved && refuses 1 "--data books: its files are not those" transformer --resume --out ../read)'
check "  in the folder of a variant" eval '(cd moved && refuses 1 "--data books: its files are not those that the run in ../both/pre-layer began with" "${books[@]}" --norm layer,rms --out ../both)'
rm moved/books/more.txt
check "put back" eval '(cd moved && "$lamina" transformer --resume --out ../read >/dev/null)'
rm read/data.txt
check "a run that does not say where" eval '(cd there && "$lamina" transformer --resume --out ../read >/dev/null)'
check "built-in data are in no folder" [ ! -e run/data.txt ]

# --- Ctrl-C in the last evaluation of a variant: the next one does not begin
between=(mnist --preset small --norm none,layer --train-on 128 --batch 128 --epochs 1 --threads 1 --out 'in between')
env -u LAMINA_SMOKE "$lamina" "${between[@]}" >out 2>&1 &
victim=$!
for _ in $(seq 3000); do [ -e 'in between/none-b128/initial.csv' ] && break; sleep 0.02; done
sleep 0.1  # the only step is done by then; its evaluation takes longer
kill -TERM $victim
code=0
wait $victim || code=$?
check "Ctrl-C in an evaluation: exit code $code, wanted 130" [ "$code" = 130 ]
check "  the evaluation is finished" grep -q "^1,1," "in between/none-b128/metrics.csv"
check "  the next variant has not begun" [ ! -e "in between/layer-b128" ]
check "  and it says how to go on" grep -qxF "saved; go on with: lamina mnist --resume --out 'in between'" out

# --- one of several variants, which may have no batch norm for --sync-batch-norm
"$lamina" mnist --preset small --norm none,batch --train-on 128 --batch 128 --epochs 1 --sync-batch-norm --threads 1 --out shared >/dev/null
check "a run without batch norm beside one with shared statistics" "$lamina" mnist --resume --out shared/none-b128 >/dev/null
check "  but not with the flag" refuses 2 "--sync-batch-norm: --norm names no batch norm" mnist --resume --out shared/none-b128 --sync-batch-norm

# --- other threads, other kernels
"$lamina" mnist --resume --out run --threads 2 2>err >/dev/null
check "other threads are said" grep -qx "run: began with 1 threads and goes on with 2; its numbers do not repeat bit by bit" err
sed -i 's/"backend": "own/"backend": "other/' run/config.json
"$lamina" mnist --resume --out run 2>err >/dev/null
check "other kernels are said" grep -q "^run: began with other .* and goes on with own .*; its numbers do not" err
cp -r one grown
sed -i 's/"commit": "[^"]*/"commit": "1a2b3c4/' grown/config.json
whole mnist --resume --out grown
check "a run that has nothing left to train keeps its commit" grep -q '"commit": "1a2b3c4"' grown/config.json
whole mnist --resume --epochs 4 --out grown
check "one that another commit goes on with names both" grep -q '"commit": "1a2b3c4, [^"]' grown/config.json
sed -i 's/"lamina": "/"lamina": "0.0./' run/config.json
"$lamina" mnist --resume --out run 2>err >/dev/null
check "another version is said" grep -q "^run: began with version 0.0.* and goes on with [0-9.]*; its numbers do not" err

# --- two processes
"$lamina" "${run[@]}" --batch 4 --epochs 2 --out busy >/dev/null &
first=$!
for _ in $(seq 600); do [ -s busy/lock ] && [ -e busy/config.json ] && break; sleep 0.02; done
check "a second one with the same --out" refuses 2 "--out busy: process $first trains in this folder" "${run[@]}" --out busy
check "a second one with --resume" refuses 2 "--out busy: process $first trains in this folder" mnist --resume --out busy
kill -9 $first
wait $first 2>/dev/null
check "a killed one blocks nobody" timeout 60 "$lamina" mnist --resume --out busy >/dev/null
check "  and nothing is left behind" [ ! -e busy/lock ]
started_at_once() {  # started_at_once N: two processes that start in the same new folder; one is refused
  local codes=()
  "$lamina" "${run[@]}" --epochs 1 --out "$1" >/dev/null 2>&1 & local one=$!
  "$lamina" "${run[@]}" --epochs 1 --out "$1" >/dev/null 2>&1 & local two=$!
  wait $one; codes+=($?)
  wait $two; codes+=($?)
  [ "${codes[*]}" = "0 2" ] || [ "${codes[*]}" = "2 0" ]
}
for number in 1 2 3 4 5; do check "two that start at once, $number" started_at_once "twice$number"; done

# --- as many updates as were asked for
LAMINA_SMOKE=7 "$lamina" handwriting --threads 1 --preset small --length 10 --batch 2 --updates 203 --out updates >/dev/null
check "--updates 203 trains 203" grep -q "^2,203," updates/metrics.csv

# --- a variant that diverges beside one that does not, since layer norm bounds what its output layer sees
code=0
(unset LAMINA_SMOKE; "$lamina" "${tiny[@]}" --norm none,layer --epochs 1 --lr 1e12 --out one-of-two >out 2>err) || code=$?
check "one of two diverges: exit code 1" [ "$code" = 1 ]
check "  the other one is trained all the same" [ -s one-of-two/layer-b128/model.safetensors ]
check "  the table has it alone" [ "$(grep -cE '^\| (layer|none)' one-of-two/summary.md)" = 1 ]
check "  and below it what became of the first" grep -q '^- baseline diverged: the loss is nan in step 2' one-of-two/summary.md
check "  what happened is said" grep -q "^lamina: one-of-two/none-b128: the loss is nan in step 2" err
check "  and at the end again" [ "$(tail -n 1 err)" = "lamina: 1 of 2 variants diverged" ]
code=0
(unset LAMINA_SMOKE; "$lamina" mnist --resume --out one-of-two >out 2>err) || code=$?
check "  and below the table once" [ "$(grep -c ' diverged: ' one-of-two/summary.md)" = 1 ]
check "  the same when it is resumed" [ "$code:$(tail -n 1 err)" = "1:lamina: 1 of 2 variants diverged" ]

# --- a model that diverged
"$lamina" mnist --batch 512 --threads 1 --lr 1e38 --out diverged >/dev/null 2>err
check "divergence ends a run with exit code 1" [ $? = 1 ]
check "  in one line" [ "$(wc -l <err)" = 1 ]
nan() { python3 - "$1" <<'END'
import struct, sys
content = open(sys.argv[1], "rb").read()
length = 8 + struct.unpack("<Q", content[:8])[0]
open(sys.argv[1], "wb").write(content[:length] + b"\xff" * (len(content) - length))
END
}
export LAMINA_SMOKE=1
"$lamina" draw --threads 1 --preset small --batch 512 --out draw >/dev/null && nan draw/model.safetensors
check "draw sample" refuses 1 "draw/model.safetensors" draw sample draw
"$lamina" convnet --threads 1 --preset small --batch 1280 --out convnet >/dev/null && nan convnet/model.safetensors
check "convnet --stats" refuses 1 "convnet/model.safetensors" convnet --stats convnet --threads 1
check "convnet --stats of other data than the run's" refuses 2 "leave out --data" convnet --stats convnet --data elsewhere
nan handwriting/model.safetensors
check "handwriting write" refuses 1 "handwriting/model.safetensors" handwriting write handwriting hello
nan attentive-reader/best.safetensors
check "attentive-reader show" refuses 1 "best.safetensors" attentive-reader show attentive-reader 1
nan order-embedding/best.safetensors
check "order-embedding search" refuses 1 "best.safetensors" order-embedding search order-embedding "a dog"
nan skip-thoughts/model.safetensors
check "skip-thoughts encode" refuses 1 "skip-thoughts/model.safetensors" skip-thoughts encode skip-thoughts </dev/null

# --- the same run, uninterrupted and killed, of the experiment whose own test is of its model
rm -rf whole killed
LAMINA_SMOKE=3 killed_and_resumed convnet --norm batch --preset small --batch 512 --threads 1 --epochs 3

# --- output that nothing reads
check "a closed standard output" bash -c "'$lamina' ${run[*]} --epochs 1 --out closed >&- 2>err; [ \$? = 1 ] && [ -s closed/state ]"
export LAMINA_SMOKE=3
"$lamina" "${run[@]}" --out piped 2>err | head -n 3 >/dev/null
code=${PIPESTATUS[0]}
check "a reader that ends saves and stops: exit code $code, wanted 130" [ "$code" = 130 ]
"$lamina" mnist --resume --out piped >/dev/null
check "  and the run goes on" [ "$(wc -l <piped/metrics.csv)" = 4 ]
(ulimit -f 1000; refuses 1 "cannot be written: File too large" "${run[@]}" --out limited) && limited=0 || limited=1
check "ulimit -f: one line" [ $limited = 0 ]

finish
