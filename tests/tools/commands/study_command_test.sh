#!/usr/bin/env bash
# `lamina study` from outside: tables and verdicts, more seeds later, what is refused, a run that diverges, Ctrl-C, kills.
source "$(dirname "$0")/../checks.sh"
export LAMINA_SMOKE=1
root=${lamina%/build/lamina}

study() {  # study JSON: writes s.json
  printf '%s' "$1" >s.json
}
line_of() { grep -c "^$1" out; }

# --- the committed example: its tables, and again without training
"$lamina" study "$root/models/mnist/studies/batch.json" --out example >out 2>err || broken out err
check "all runs end" grep -q "12 of 12 done$" out
check "a row for each run" [ "$(wc -l <example/runs.csv)" = 13 ]
check "a verdict for each claim" [ "$(grep -c '^\*\*' example/summary.md)" = 4 ]
check "its data are named" grep -q "synthetic digits, not MNIST.*cut down by LAMINA_SMOKE=1" example/summary.md
check "a row for each variant and metric" [ "$(grep -cE '^\| (none|layer)-batch(512|128) \| 3 \| 0 \|' example/summary.md)" = 12 ]
cp example/summary.md before.md
rm example/summary.md example/runs.csv example/study.json
"$lamina" study "$root/models/mnist/studies/batch.json" --out example --tables >out 2>err || broken out err
check "tables without training are the same" cmp -s before.md example/summary.md
check "and train nothing" [ "$(line_of starts)" = 0 ]
mkdir kept && cp example/numbers.json kept
"$lamina" study "$root/models/mnist/studies/batch.json" --out kept --tables >out 2>err || broken out err
for file in summary.md runs.csv variants.csv verdicts.json numbers.json; do
  check "$file from the numbers alone is the same" cmp -s example/$file kept/$file
done

# --- every committed study can be trained, and none chooses by what it judges
mkdir none
for file in "$root"/models/*/studies/*.json; do
  check "${file#"$root/"} can be trained" eval '"$lamina" study "$file" --out none --tables >out 2>err || { cat err; false; }'
  check "${file#"$root/"} chooses nothing on the test set" eval '! grep -q "\"choose\": \"test_" "$file"'
  rm -f none/*
done

# --- what is committed of studies is what its numbers say
same_or_neither() { cmp -s "$1" "$2" || [ ! -e "$1" -a ! -e "$2" ]; }  # a study without claims has no verdicts
for results in "$root"/models/*/results/*/numbers.json; do
  folder=${results%/numbers.json} name=$(basename "${results%/numbers.json}")
  mkdir "again-$name" && cp "$results" "again-$name"
  "$lamina" study "${folder%/results/*}/studies/$name.json" --out "again-$name" --tables >out 2>err || broken out err
  for file in summary.md runs.csv variants.csv verdicts.json numbers.json; do
    check "$name: $file again" same_or_neither "$folder/$file" "again-$name/$file"
  done
  check "$name: its figure again" [ -s "again-$name/figure.svg" ]
done

# --- some seeds choose, and only what they chose is trained with the others
study '{"experiment": "mnist", "settings": {"preset": "small"}, "variants": {"norm": ["none", "layer"], "lr": [0.001, 1e-6]},
  "seeds": [1, 2, 3], "choose": "valid_nll", "choose_seeds": 1,
  "claims": [{"metric": "valid_nll", "lower": {"norm": "layer"}, "than": {"norm": "none"}}]}'
"$lamina" study s.json --out chosen >out 2>err || broken out err
check "the first seed trains all, the others two of four" [ "$(line_of starts)" = 8 ]
check "what was chosen is said" grep -q "^chosen by valid_nll: none-lr0.001, layer-lr0.001; they alone train with the other seeds" out
check "nothing is left to go" grep -q "4 variants with 3 seeds: 8 runs finished, 0 diverged, 0 failed, 0 to go" chosen/summary.md
check "claims have all seeds" grep -q "n = 3 seeds, chosen by valid_nll with the first 1 seed from" chosen/summary.md
check "the figure has the curves" [ ! -e chosen/curves.svg ]
sed -i 's/"claims"/"against": "lr", "claims"/' s.json
"$lamina" study s.json --out chosen >out 2>err || broken out err
check "and nothing is trained twice" [ "$(line_of starts)" = 0 ]
check "beside ends against the rate there are curves of what is compared" grep -q "lr 0.001" chosen/curves.svg
check "and of nothing else" eval '! grep -q "lr 1e-06" chosen/curves.svg'

# --- more seeds and variants later
study '{"experiment": "mnist", "settings": {"preset": "small"}, "variants": {"norm": ["none", "layer"]}, "seeds": [1]}'
"$lamina" study s.json --out grows >out 2>err || broken out err
check "two runs" [ "$(line_of starts)" = 2 ]
check "of one seed" grep -q "2 variants with 1 seed: 2 runs finished" grows/summary.md
study '{"experiment": "mnist", "settings": {"preset": "small"}, "variants": [{"norm": "none"}, {"norm": "batch"}], "seeds": [1, 2]}'
"$lamina" study s.json --out grows >out 2>err || broken out err
check "only what is new is trained" [ "$(grep ^starts out | sort | tr '\n' ' ')" = "starts: batch-seed1 starts: batch-seed2 starts: none-seed2 " ]
"$lamina" study s.json --out grows >out 2>err || broken out err
check "nothing twice" [ "$(line_of starts)" = 0 ]
mkdir bare && cp grows/numbers.json bare
check "numbers alone, which may be of other settings" refuses 1 "s.json: bare/numbers.json has none-seed1, but no bare/study.json says what it began with; restore" study s.json --out bare
mkdir moved && cp grows/numbers.json grows/study.json moved
sed -i 's/\[1, 2\]/[1, 2, 3]/' s.json
"$lamina" study s.json --out moved >out 2>err || broken out err
check "nor where the numbers alone are left" [ "$(grep ^starts out | sort | tr '\n' ' ')" = "starts: batch-seed3 starts: none-seed3 " ]
check "which is said" grep -q "^6 runs of lamina mnist in moved: 4 done before (4 of them in numbers.json), 2 to go" out
check "old and new seeds are in the tables" grep -qE '^\| batch \| 3 \| 0 \|' moved/summary.md
rm -r moved/*-seed[0-9]
sed -i 's/\[1, 2, 3\]/[2]/' s.json
"$lamina" study s.json --out moved --tables >out 2>err || broken out err
check "what the file does not name is in no table" grep -qE '^\| batch \| 1 \| 0 \|' moved/summary.md
check "and its numbers are kept, as those of the variant that was taken out before" [ "$(grep -c '"outcome"' moved/numbers.json)" = 7 ]
study '{"experiment": "mnist", "settings": {"preset": "small", "lr": 0.5}, "variants": {"norm": ["none"]}}'
check "other settings" refuses 1 "s.json: lr 0.5 and not no lr in grows/study.json; put it back" study s.json --out grows
LAMINA_SMOKE=2 check "another LAMINA_SMOKE" refuses 1 "grows/study.json" study s.json --out grows

# --- longer later
longer() {  # longer EPOCHS FOLDER [NORMS]
  study '{"experiment": "mnist", "settings": {"preset": "small", "train-on": 256, "batch": 128, "epochs": '"$1"'},
    "variants": {"norm": ['"${3:-"\"none\", \"layer\""}"']}, "seeds": [1, 2]}'
  (unset LAMINA_SMOKE; "$lamina" study s.json --out "$2" >out 2>err) || broken out err
}
longer 3 asked-for-3
longer 2 longer
mkdir only && cp longer/numbers.json longer/study.json only
longer 3 longer
check "runs go on to more epochs" [ "$(grep -E '^(goes on|starts)' out | sort | tr '\n' ' ')" = \
  "goes on: layer-seed1 goes on: layer-seed2 goes on: none-seed1 goes on: none-seed2 " ]
measured() { sed -E 's/"peak_bytes":[0-9]+,//; s/,"seconds":\[[^]]*\]//' "$1/numbers.json"; }
check "  and measure what they would have if they had been asked for them" cmp -s <(measured asked-for-3) <(measured longer)
for file in summary.md variants.csv study.json; do check "  $file, too" cmp -s asked-for-3/$file longer/$file; done
longer 3 longer
check "  and not twice" [ "$(grep -cE '^(goes on|starts)' out)" = 0 ]
rm longer/{none,layer}-seed1/outcome.json  # as after a kill before the run noted its new length, and behind that
sed -i 's/"epochs": 3/"epochs": 5/' longer/none-seed1/config.json
longer 5 longer
longer 5 asked-for-5
check "  nor less, wherever a kill comes" cmp -s <(measured asked-for-5) <(measured longer)
study '{"experiment": "mnist", "settings": {"preset": "small", "train-on": 256, "batch": 128, "epochs": 4},
  "variants": {"norm": ["none", "layer"]}, "seeds": [1, 2]}'
LAMINA_SMOKE=0 check "  shorter is refused" refuses 1 "s.json: epochs 4 and not epochs 5 in longer/study.json; put it back" study s.json --out longer
LAMINA_SMOKE=0 check "  and so are runs whose numbers alone are left" refuses 1 "s.json: epochs 4 and not epochs 2 in only/study.json" study s.json --out only

longer 1 taken
longer 2 taken '"none"'
rm -r taken/layer-seed*
longer 2 taken
check "a variant that was taken out meanwhile does not come back shorter" [ "$(grep -E '^(goes on|starts)' out | sort | tr '\n' ' ')" = \
  "starts: layer-seed1 starts: layer-seed2 " ]

# --- what only runs tell is asked of the first ones
study '{"experiment": "mnist", "settings": {"preset": "small", "record": "every=5"}, "variants": {"norm": ["batch", "layer"]}, "seeds": [1, 2, 3], "metrics": "gian.mean"}'
check "what no run records" refuses 1 "s.json: metrics: 'gian.mean' is no metric of these runs" study s.json --out asked --jobs 1
check "is said after one run of each variant" [ "$(line_of starts)" = 2 ]
study '{"experiment": "mnist", "settings": {"preset": "small"}, "variants": {"norm": ["batch", "layer"]}, "seeds": [1, 2, 3],
  "claims": [{"metric": "test_error", "take": "mean of last 9", "lower": {"norm": "layer"}, "than": {"norm": "batch"}}]}'
check "and so is a mean of more than they measure" refuses 1 "s.json: 'mean of last 9' of 'test_error': layer-seed1 has only 1" study s.json --out asked-again --jobs 1
check "then as well" [ "$(line_of starts)" = 2 ]

# --- runs that the study did not begin, and folders of single runs
study '{"experiment": "mnist", "settings": {"preset": "small", "lr": 0.5}, "variants": {"norm": ["none"]}}'
"$lamina" mnist --preset small --norm none --out adopted/none-seed1 >/dev/null 2>err || broken err
check "a run of another rate" refuses 1 "s.json: lr 0.5: the run in adopted/none-seed1 began with 0.001; name another folder" study s.json --out adopted
sed -i 's/, "lr": 0.5/, "record": "every=5"/' s.json
check "a run with another record" refuses 1 "s.json: record every=5: the run in adopted/none-seed1 began with 0; name" study s.json --out adopted
sed -i 's/, "record": "every=5"/, "lr": "1e-3"/' s.json
cp -r adopted doubled && sed -i 's/"scalar": "float"/"scalar": "double"/' doubled/none-seed1/config.json
check "a run in double" refuses 1 "s.json: the run in doubled/none-seed1 is in double, and this program is in float; go on with" study s.json --out doubled
check "a run without the study's settings" refuses 1 "adopted/none-seed1 holds a run, but no adopted/study.json" study s.json --out adopted
check "a study in a run's folder" refuses 2 "--out adopted/none-seed1: holds a run" study s.json --out adopted/none-seed1
check "and its tables" refuses 2 "--out adopted/none-seed1: holds a run" study s.json --out adopted/none-seed1 --tables
check "a run in a study's folder" refuses 2 "--out grows: holds a study" mnist --preset small --out grows
check "other results in a study's folder" refuses 2 "--out grows: holds a study" stability --steps 5 --scales 0.5,2 --out grows
check "other results in a run's folder" refuses 2 "--out adopted/none-seed1: holds results of lamina mnist" stability --steps 5 --scales 0.5,2 --out adopted/none-seed1
check "a lab in a run's folder" refuses 2 "--out adopted/none-seed1: holds results of lamina mnist" lab online --out adopted/none-seed1
check "nor in one that a process trains in" [ "$(mkdir busy && flock busy/lock sh -c "echo 1 >busy/lock; '$lamina' lab online --out busy 2>&1")" = \
  "lamina: --out busy: a process trains in this folder; name another one" ]
study '{"experiment": "mnist", "settings": {"preset": "small"}, "variants": {"norm": ["none"]}, "seeds": [1]}'
"$lamina" study s.json --out strange >out 2>err || broken out err
"$lamina" mnist --preset small --norm none --lr 0.5 --seed 2 --out strange/none-seed2 >/dev/null 2>err || broken err
sed -i 's/\[1\]/[1, 2]/' s.json
check "a run of a rate that the study leaves open" refuses 1 \
  "s.json: lr 0.5: the run in strange/none-seed2 began with it, and that in strange/none-seed1 with 0.001; remove one" study s.json --out strange
check "neither replaces anything" [ "$(grep -cE 'seeds?: ' grows/summary.md)$(grep -cE 'seeds?: ' adopted/none-seed1/summary.md)" = 10 ]

# --- other data
mkdir -p here/books there/books
for _ in $(seq 30); do echo "It was tea time, and she went on."; done >here/books/emma.txt
tr et te <here/books/emma.txt >there/books/emma.txt
study '{"experiment": "transformer", "settings": {"preset": "small", "layers": 1, "updates": 2, "validate-every": 1, "batch": 8, "length": 8, "data": "books"}, "seeds": [1]}'
(cd here && "$lamina" study ../s.json --out ../read >/dev/null 2>err) || broken here/err
sed -i 's/\[1\]/[1, 2]/' s.json
check "another folder of that name" eval '(cd there && refuses 2 "--data books: the run in ../read/run-seed1 began with $(dirname "$PWD")/here/books, which is another folder" study ../s.json --out ../read)'
cp there/books/emma.txt here/books/emma.txt
check "a book that has changed" eval '(cd here && refuses 1 "../s.json: the runs in ../read/run-seed1 and ../read/run-seed2 began with other files in their --data folder" study ../s.json --out ../read)'
check "  is said before anything else is trained, too" eval '(cd here && sed -i "s/1, 2/1, 2, 3/" ../s.json && ! "$lamina" study ../s.json --out ../read >out 2>err && ! grep -q ^starts out)'

study '{"experiment": "transformer", "settings": {"preset": "small", "layers": 1, "updates": 2, "validate-every": 1, "batch": 8, "length": 8, "data": "books"},
  "variants": {"norm": ["none"]}, "seeds": [1]}'
(cd here && "$lamina" study ../s.json --out ../apart >/dev/null 2>err) || broken here/err
mkdir alone && cp apart/numbers.json apart/study.json alone
tr ea ae <there/books/emma.txt >here/books/emma.txt
sed -i 's/"none"/"none", "layer"/' s.json
cp -r alone many
for folder in apart alone; do
  check "a variant that is added after a book has changed, in $folder" eval \
    '(cd here && refuses 1 "../s.json: the runs in ../$folder/none-seed1 and ../$folder/layer-seed1 began with other files in their --data folder" study ../s.json --out ../$folder)'
done
sed -i 's/"layer"/"layer", "rms"/' s.json
check "  is said as soon as one has begun" eval '(cd here && ! "$lamina" study ../s.json --jobs 1 --out ../many >out 2>err && [ "$(grep -c ^starts out)" = 1 ])'
(cd here/books && "$lamina" transformer --preset small --layers 1 --updates 2 --validate-every 1 --batch 8 --length 8 --data . --seeds 2 --out runs/below >out 2>err) || broken here/books/out here/books/err
check "a study below its data does not learn from its own files" grep -q '^Data: ./emma.txt: ' here/books/runs/below/summary.md

# --- --seeds, the short form
"$lamina" mnist --preset small --norm none,layer --batch 128,64 --lr 0.002 --record every=5 --seeds 2 --seed 4 --out short >out 2>err || broken out err
check "a run for each variant and seed" [ "$(grep ^starts out | sort | tr '\n' ' ')" = \
  "starts: layer-batch128-seed4 starts: layer-batch128-seed5 starts: layer-batch64-seed4 starts: layer-batch64-seed5 starts: none-batch128-seed4 starts: none-batch128-seed5 starts: none-batch64-seed4 starts: none-batch64-seed5 " ]
study '{"experiment": "mnist", "settings": {"preset": "small", "lr": 0.002, "record": "every=5"}, "variants": {"batch": [128, 64], "norm": ["none", "layer"]}, "seeds": [4, 5]}'
"$lamina" study s.json --out long >out 2>err || broken out err
check "trained as by a study's file" cmp -s short/none-batch64-seed5/model.safetensors long/batch64-none-seed5/model.safetensors
check "with all that the flags say" [ -s short/layer-batch128-seed4/record.csv ]
"$lamina" mnist --preset small --norm none,layer --batch 128,64 --lr 0.002 --record every=5 --seeds 3 --seed 4 --out short >out 2>err || broken out err
check "more seeds later" [ "$(line_of starts)" = 4 ]
check "their spread is in the tables" grep -qE '^\| layer-batch64 \| 3 \| 0 \|' short/summary.md
check "other flags" refuses 1 "put it back, or name another folder with --out" mnist --preset small --norm none,layer --batch 128,64 --seeds 3 --out short
"$lamina" mnist --preset small --data 007 --seeds 1 --out folder >out 2>err
check "a folder whose name is a number" grep -q "^failed: layer-seed1, 007: is not a folder" out
check "more seeds than there are" refuses 2 "--seeds: 3 from --seed 9223372036854775806 on go beyond 9223372036854775807, the largest seed" \
  mnist --seed 9223372036854775806 --seeds 3 --out short
check "not with --resume" refuses 2 "--resume excludes --seeds" mnist --seeds 2 --resume --out short
check "nor with statistics of several ranks" refuses 2 "--sync-batch-norm: each run of --seeds is one process" mnist --preset small --norm none,batch --sync-batch-norm --seeds 1 --out ranks
"$lamina" attentive-reader --preset small --updates 2 --seeds 1 --out curves >out 2>err || broken out err
check "the five curves of Figure 2" [ "$(grep ^starts out | sort | tr '\n' ' ')" = \
  "starts: batch-everywhere-seed1 starts: batch-seed1 starts: layer-gain0.1-seed1 starts: layer-gain1-seed1 starts: none-seed1 " ]

# --- a run that diverges, one that fails
study '{"experiment": "mnist", "settings": {"preset": "small", "data": "nowhere"}, "seeds": [1, 2]}'
status=0
"$lamina" study s.json --out fails >out 2>err || status=$?
check "failed runs are an error" [ $status = 1 ]
check "with their reason, and the others go on" [ "$(grep -c '^failed: run-seed[12], nowhere' out)" = 2 ]
study '{"experiment": "mnist", "settings": {"preset": "small"}}'
mkdir -p retried/run-seed1 && printf 'lamina: nowhere: is missing\nlamina: still missing\nERROR: of the system\n' >retried/run-seed1/log.txt
"$lamina" study s.json --out retried >out 2>err || broken out err
check "a run that failed before, and the system warned of, names its data" grep -q '"data": "built-in synthetic digits' retried/run-seed1/outcome.json
study '{"experiment": "mnist", "settings": {"preset": "small"}, "variants": {"lr": [0.001, 1e30]}, "seeds": [1, 2]}'
"$lamina" study s.json --out diverges >out 2>err || broken out err
check "that a run diverges is a result" [ "$(grep -c '^diverged: lr1e+30-seed[12], ' out)" = 2 ]
check "it counts in the tables" grep -q '^| lr1e+30 | 0 | 2 | - |' diverges/summary.md
check "and is in runs.csv with its reason" grep -qE '^lr1e\+30-seed1,1e\+30,1,diverged,.*(not finite|nan|inf)' diverges/runs.csv
"$lamina" study s.json --out diverges >out 2>err || broken out err
check "and is not tried again" [ "$(line_of starts)$(line_of goes)" = 00 ]

study '{"experiment": "mnist", "settings": {"preset": "small", "norm": "none,layer"}}'
"$lamina" study s.json --out several >out 2>err
check "a run of several variants fails before it trains them" [ "$(grep -c '^failed: run-seed1, it would train 2 variants; name one value of each' out)" = 1 -a ! -e several/run-seed1/config.json ]

# --- a run with a damaged file
study '{"experiment": "mnist", "settings": {"preset": "small"}, "variants": {"norm": ["none", "layer"]}, "seeds": [1]}'
"$lamina" study s.json --out damaged >out 2>err || broken out err
cp -r damaged/none-seed1 before && echo '{' >damaged/none-seed1/config.json
sed -i 's/\[1\]/[1, 2]/' s.json
status=0
"$lamina" study s.json --out damaged >out 2>err || status=$?
check "a damaged config.json is an error" [ $status = 1 ]
check "that names it" grep -q "^failed: none-seed1, damaged/none-seed1/config.json: is damaged (" out
check "and the others are trained" [ "$(grep ^starts out | sort | tr '\n' ' ')" = "starts: layer-seed2 starts: none-seed2 " ]
check "nothing of the run is touched" [ "$(diff -r before damaged/none-seed1 | grep -c '^diff\|^Only')" = 1 ]
check "and its numbers are kept" [ "$(grep -c '"outcome"' damaged/numbers.json)" = 4 ]
check "the summary counts it" grep -q "3 runs finished, 0 diverged, 1 failed, 0 to go" damaged/summary.md
cp before/config.json damaged/none-seed1
"$lamina" study s.json --out damaged >out 2>err || broken out err
check "restored, it is done" grep -q "^4 runs of lamina mnist in damaged: 4 done before, 0 to go" out

# --- mistakes in the file
mistake() { study "$2"; check "$1" refuses 1 "s.json: $3" study s.json --out wrong; }
mistake "unknown experiment" '{"experiment": "mnits"}' "'experiment' is 'mnits', which trains nothing; there are order-embedding, "
mistake "a command that trains nothing" '{"experiment": "graph"}' "'experiment' is 'graph', which trains nothing"
mistake "unknown flag" '{"experiment": "mnist", "settings": {"inertia": 1}}' "'inertia' is no flag of lamina mnist; see lamina mnist --help"
mistake "unknown flag of a variant" '{"experiment": "mnist", "variants": {"inertia": [1]}}' "'inertia' is no flag"
mistake "value that the flag refuses" '{"experiment": "mnist", "variants": {"norm": ["none", "lyaer"]}}' "lyaer: --norm: lyaer not in {"
mistake "a value switched off" '{"experiment": "transformer", "settings": {"decay": false}}' "'decay' is false, and its flag takes a value; give one, or leave the key out"
mistake "typo in a key" '{"experiment": "mnist", "sedes": [1]}' "'sedes' is no key; there are "
mistake "empty list" '{"experiment": "mnist", "seeds": []}' "'seeds' is an empty list"
mistake "no JSON" '{"experiment": "mnist",}' "is not JSON ("
mistake "unknown metric" '{"experiment": "mnist", "choose": "valid_eror"}' "choose: 'valid_eror' is no metric of lamina mnist; there are train_nll,valid_nll,"
mistake "a choice on the test set" '{"experiment": "mnist", "choose": "test_error"}' "choose: 'test_error' is measured on the test set, on which"
mistake "what nothing records" '{"experiment": "mnist", "metrics": "gain.mean"}' "metrics: 'gain.mean' is recorded by runs with"
claims() { echo '{"experiment": "transformer", "variants": {"norm": ["none", "layer"]}, "claims": [{"metric": "test_bits", '"$1"', "than": {"norm": "none"}}]}'; }
mistake "a test where another metric is best" "$(claims '"take": "where valid_bits is best", "lower": {"norm": "layer"}')" "needs the course of 'test_bits', which runs measure once"
mistake "updates until a test" "$(claims '"faster": {"norm": "layer"}')" "needs the course of 'test_bits', which runs measure once"
check "no file" refuses 1 "nowhere.json" study nowhere.json
check "nothing was made for them" [ ! -e wrong ]
study '{"experiment": "mnist"}'
check "jobs of what trains nothing" refuses 2 "excludes" study s.json --out wrong --tables --jobs 2
check "tables of nothing" refuses 2 "--tables: there is no folder wrong" study s.json --out wrong --tables
check "a folder in use" [ "$(mkdir used && flock used/lock sh -c "echo 1 >used/lock; '$lamina' study s.json --out used 2>&1")" = \
  "lamina: --out used: process 1 trains in this folder; wait for its end, or name another folder" ]

# --- Ctrl-C
export LAMINA_SMOKE=50
study '{"experiment": "mnist", "settings": {"epochs": 50, "batch": 4}, "seeds": [1, 2, 3]}'
"$lamina" study s.json --out "st opped" --jobs 2 >out 2>err &
victim=$!
for _ in $(seq 600); do [ -e "st opped/run-seed1/state" ] && break; sleep 0.02; done
kill -INT $victim
status=0
wait $victim || status=$?
check "Ctrl-C saves and exits with 130" [ $status = 130 ]
check "and says how to go on" grep -qxF "saved; go on with: lamina study s.json --out 'st opped'" out
check "no run is left" [ -z "$(find "st opped" -name lock)" ]
check "one was saved" [ -s "st opped/run-seed1/state" ]

# --- kills
kills=$("$root/tests/faults/study_kills.py" --kills 8 2>&1)
check "killed at random moments: $kills" grep -q "1 passed, 0 failed" <<<"$kills"

finish
