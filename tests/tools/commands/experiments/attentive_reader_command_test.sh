#!/usr/bin/env bash
# `lamina attentive-reader` and `lamina data cloze` from outside: the five curves in one call, killed and resumed
# runs, questions from a book, heat maps, bad input.
source "$(dirname "$0")/../../checks.sh"
export LAMINA_SMOKE=10  # 320 stories and at most ten epochs

# --- the five curves of Figure 2 from one call
"$lamina" attentive-reader --preset small --updates 10 --validate-every 5 --out all >out 2>err || broken err
check "says that the data are built in" grep -q "not CNN" out
check "a row for each curve" [ "$(grep -cE '^\| (LSTM|BN-LSTM|BN-everywhere|LN-LSTM, gain (1.0|0.1)) \|' all/summary.md)" = 5 ]
guesses="[0-9.]+% for an entity of the passage at random, [0-9.]+% for the most frequent one, and [0-9.]+% for the most frequent one that is not in the question"
check "what guessing gives" grep -qE "^Without reading, the validation error is $guesses, and the test error $guesses\.$" all/summary.md
check "one folder a variant, with its best model" \
  [ "$(cat all/{none,batch,batch-everywhere,layer-gain-1,layer-gain-0.1}/best.safetensors | wc -c)" -gt 100000 ]
check "metrics at every validation" [ "$(cut -d, -f1,2 all/batch/metrics.csv | tr '\n' ' ')" = "validation,step 1,5 2,10 " ]

# --- a call with several variants finds those trained separately
"$lamina" attentive-reader --norm layer --gain 0.5 --preset small --updates 10 --validate-every 5 --out parts/layer-gain-0.5 >/dev/null
"$lamina" attentive-reader --norm none,layer --gain 0.5 --preset small --updates 5 --validate-every 5 --out parts >out 2>err || broken err
check "the figure ends where the shortest curve does" grep -q "LN-LSTM, gain 0.5 | 5 |" parts/summary.md
check "the test of a longer run is not of that curve" grep -qE "LN-LSTM, gain 0.5 \| 5 \| .* \| - \| - \| [0-9]+ \|$" parts/summary.md
check "but of one that ends there it is" grep -qE "^\| LSTM \| 5 \| .* \| [0-9.*]+ \| - \| [0-9]+ \|$" parts/summary.md
"$lamina" attentive-reader --norm layer --gain 0.5 --preset small --updates 10 --validate-every 5 --out early/layer-gain-0.5 >/dev/null
"$lamina" attentive-reader --norm none,layer --gain 0.5 --preset small --updates 3 --validate-every 5 --out early >out 2>err || broken err
check "a curve that begins after the shortest one has ended has no numbers" grep -qF "| LN-LSTM, gain 0.5 | - | - | - | - | - | - | - |" early/summary.md

# --- the same run: uninterrupted and killed in the middle of a period
killed_and_resumed attentive-reader --norm batch-everywhere --preset small --batch 16 --threads 2 --epochs 8 --validate-every 40

# --- batch norm's three evaluations, answers among all words, cyclic padding
check "columns of batch norm" [ "$(head -1 all/batch/metrics.csv | cut -d, -f5-10)" = valid_loss,valid_error,population_loss,population_error,moving_loss,moving_error ]
check "and in the test" grep -q "^epoch,test_loss,test_error,test_population_loss,test_population_error$" all/batch-everywhere/test.csv
check "no other norm has them" [ "$(grep -l population all/{none,layer-gain-1}/{metrics,test}.csv | wc -l)" = 0 ]
"$lamina" attentive-reader --norm batch --preset small --answers vocabulary --padding cyclic --updates 2 --validate-every 2 --out words >out 2>err || broken err
"$lamina" attentive-reader show words 0 >out 2>err || broken err
check "answers are words" grep -qE '^ +[0-9.]+%  [^@ ]+' out
check "settings are kept" grep -q '"padding": "cyclic"' words/config.json

# --- size and dropout
"$lamina" attentive-reader --norm none --preset small --units 24 --dropout 0.25 --updates 2 --validate-every 2 --out sized >out 2>err || broken err
check "units are those of every matrix" [ "$(stat -c %s sized/model.safetensors)" -lt "$(($(stat -c %s all/none/model.safetensors) / 2))" ]
check "size and dropout are kept" [ "$(grep -cE '"(units": 24|dropout": 0.25)' sized/config.json)" = 2 ]
sed -i '/"units"/d; /"dropout"/d' all/none/config.json
"$lamina" attentive-reader show all/none 0 >out 2>err || broken err
check "a run of before there were such flags has its preset's" grep -q "^validation question 0: " out
check "a dropout of everything" refuses 2 "--dropout" attentive-reader --dropout 1 --out nothing

# --- gains
gains=(attentive-reader --norm layer --gain 0.01,0.1234567,0.1234568 --preset small --updates 2 --validate-every 2)
"$lamina" "${gains[@]}" --out gains >out 2>err || broken err
check "a folder for each gain" [ -s gains/layer-gain-0.01/state -a -s gains/layer-gain-0.1234567/state -a -s gains/layer-gain-0.1234568/state ]
check "and a title" [ "$(grep -cE '^\| LN-LSTM, gain 0\.(01|1234567|1234568) \|' gains/summary.md)" = 3 ]

# --- attention
"$lamina" attentive-reader show whole 3 >out 2>err || broken err
check "the number that was asked for" [ "$(head -1 out)" = "validation question 3: a built-in story, seed 1" ]
check "an answer with its probability" grep -qE '^[* ] +[0-9.]+%  @entity[0-9]+ \(' out
check "no colours in a pipe" [ "$(grep -c $'\033' out)" = 0 ]
check "a page" grep -q "</html>" whole/validation-3.html
"$lamina" attentive-reader show whole 3 --test >out
check "test questions" grep -q '^test question 3: ' out
check "a question that is not there" refuses 2 "the validation questions have the numbers 0 to 63" attentive-reader show whole 64
check "a folder of several runs" refuses 2 "all/layer-gain-0.1" attentive-reader show all 0
check "not a run" refuses 1 "nowhere: is not a run's folder" attentive-reader show nowhere 0

# --- questions from a book
for chapter in $(seq 20); do
  printf 'CHAPTER %s\r\n\r\nAt noon Anna met Boris by the mill. Then Clara came with Anna and Boris.\r\n' "$chapter"
  printf 'It was Anna whom Clara saw. They asked Boris for it.\r\n\r\n'
done >book.txt
"$lamina" data cloze book.txt --out cloze >out 2>err || broken err
check "a book becomes questions" grep -q "^cloze: 48 training, 6 validation and 6 test questions$" out
check "anonymous" [ -z "$(sed -s '/^@entity[0-9]*:/d' cloze/*/*.question | grep -iE 'anna|boris|clara')" ]
check "sentences of built-in passages" refuses 2 "--sentences 2: built-in passages" attentive-reader --sentences 2 --out book
"$lamina" attentive-reader --norm layer --preset small --data cloze --sentences 0 --batch 16 --updates 4 --validate-every 2 --out book >out 2>err || broken err
check "and is read" grep -q "questions in cloze (whole passages): 48 training" out
check "the folder is not overwritten" refuses 1 "cloze/training: is there already" data cloze book.txt --out cloze
head -c 3000 "$lamina" >binary.txt
check "a binary book" refuses 1 "binary.txt:1: holds a zero byte" data cloze book.txt binary.txt --out b
check "nothing is written for it" [ ! -e b ]
check "a book that is not there" refuses 1 "nowhere.txt" data cloze nowhere.txt --out c
printf 'It was night. Nobody came.\n' >short.txt
check "a book without names" refuses 1 "came out of 1 chapters" data cloze short.txt --out d

# --- usage: exit code 2; data: exit code 1
check "unknown norm" refuses 2 "--norm" attentive-reader --norm weight
check "unknown answers" refuses 2 "--answers" attentive-reader --answers words
check "unknown padding" refuses 2 "--padding" attentive-reader --padding none
check "a gain of zero" refuses 2 "--gain" attentive-reader --gain 0
check "a gain where no layer norm is" refuses 2 "--gain" attentive-reader --gain 0.1 --norm none,batch --out gainless
check "batch norm of single questions, of which it would leave nothing" refuses 2 "--batch 1: a single case has no variance, which --norm batch needs" \
  attentive-reader --batch 1 --norm none,batch --out one
check "batch larger than the data" refuses 2 "--batch 100000" attentive-reader --batch 100000 --out large
check "missing data folder" refuses 1 "nowhere/training: is not a folder" attentive-reader --data nowhere --out e
mkdir -p empty/training empty/validation empty/test
check "an empty folder" refuses 1 "empty/training: holds no .question files" attentive-reader --data empty --out f
printf 'u\n\n@entity1 came .\n\n@placeholder came .\n' >empty/training/a.question
check "a missing part" refuses 1 "a.question:5: the file ends without its answer" attentive-reader --data empty --out g
printf 'u\n\n@entity1 came .\n\n@placeholder came .\n\n@entity2\n' >empty/training/a.question
check "an answer that is not in the passage" refuses 1 "a.question:7: the answer @entity2 is not in the passage" attentive-reader --data empty --out h

check "several batch sizes" refuses 2 "--batch: one size at a time" attentive-reader --preset small --batch 8,16 --out several
check "  and --help says so" grep -qE -- '(--batch .*| )cases per step, one size at a time$' <("$lamina" attentive-reader --help)

finish
