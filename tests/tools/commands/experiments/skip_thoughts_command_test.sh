#!/usr/bin/env bash
# lamina skip-thoughts from outside: training, killed and resumed runs, encode, eval, neighbours, bad input.
source "$(dirname "$0")/../../checks.sh"
export LAMINA_SMOKE=2  # 150 stories and at most two epochs

# --- two variants from one call
"$lamina" skip-thoughts --preset small --norm none,layer --batch 128 --epochs 1 --evaluate-every 3 --out all >out 2>err || broken err
check "says that the text is synthetic" grep -q "built-in stories, not books" out
check "a table with both" [ "$(grep -cE '^\| (baseline|layer norm) \|' all/summary.md)" = 2 ]
check "the encoder at every evaluation" [ -s all/none-b128/snapshot-3.safetensors -a -s all/layer-b128/snapshot-6.safetensors ]

# --- books; the same run uninterrupted, and killed and resumed without scanning them again
mkdir books && for i in $(seq 400); do printf 'He saw the %d dogs. She didn’t see “them” at\nall! Mr. Bennet ran.\n\n' $((i % 97)); done >books/a.txt
run=(skip-thoughts --data books --norm layer --preset small --batch 64 --threads 2 --evaluate-every 9)
killed_and_resumed "${run[@]}"
check "the encoder before any update is kept" [ -s whole/snapshot-0.safetensors ]
check "says what it reads" grep -q "1 books, the first books/a.txt: 1200 sentences" out
check "lazy updates end elsewhere" eval '"$lamina" "${run[@]}" --out lazy --lazy >/dev/null && ! cmp -s whole/model.safetensors lazy/model.safetensors'
check "conditioned at every step" eval '"$lamina" "${run[@]}" --out conditioned --condition every-step >/dev/null'

mkdir latin && cp books/a.txt $'latin/caf\xe9.txt'
"$lamina" skip-thoughts --data latin --norm layer --preset small --batch 64 --threads 2 --epochs 1 --out accent >/dev/null 2>err || broken err
check "books whose names are not UTF-8 are found again" eval '"$lamina" skip-thoughts --resume --out accent >/dev/null 2>err || { cat err; false; }'

# --- vectors
printf 'He ran.\n\nhe ran .\n' | "$lamina" skip-thoughts encode whole >vectors.npy
check "vectors as .npy: header and 3 x 60 numbers" [ "$(head -c 6 vectors.npy | tail -c 5)" = NUMPY -a "$(stat -c %s vectors.npy)" = $((128 + 4 * 180)) ]
printf '\xEF\xBB\xBFHe ran.\n\nhe ran .\n' | "$lamina" skip-thoughts encode whole >marked.npy
check "a byte order mark is no part of the first word" cmp -s vectors.npy marked.npy
"$lamina" skip-thoughts neighbours whole "Mr. Bennet ran." --count 3 >out 2>err || broken err
check "neighbours" [ "$(grep -cE '^cosine [0-9.]+: ' out)" = 3 ]
check "each sentence is listed once" [ "$(sort -u out | wc -l)" = "$(wc -l <out)" ]
check "and not the one that was asked for" [ "$(grep -c 'mr \. bennet ran \.' out)" = 0 ]
check "which other sentences find" eval '"$lamina" skip-thoughts neighbours whole "Bennet ran." --count 200 | grep -qE "^cosine [0-9.]+: mr \. bennet ran \.$"'
# A sentence with a word that the vocabulary lacks is one step per word; written out and read again, "<unk>" would be three.
cp -r whole forgets && sed -i 's/^dogs$/zebras/' forgets/vocabulary.txt
"$lamina" skip-thoughts neighbours forgets "He ran to quux." --count 200 >out 2>err || broken err
check "a question's unknown words are named" grep -qx 'not in the vocabulary: quux' out
printf 'He ran to quux.\nHe saw the 5 dogs.\n' | "$lamina" skip-thoughts encode forgets >two.npy
cat >cosine.py <<'END'
import struct, sys
numbers = struct.unpack("<120f", open("two.npy", "rb").read()[128:])
sys.exit(abs(float(sys.argv[1]) - sum(a * b for a, b in zip(numbers[:60], numbers[60:]))) > 1e-5)
END
check "the cosine of a sentence with an unknown word is its own" \
  python3 cosine.py "$(sed -n 's/^cosine \([-0-9.e]*\): he saw the 5 <unk> \.$/\1/p' out)"
cp books/a.txt as-it-was && sed -i s/dogs/cats/ books/a.txt
check "books that have changed, though not in length" refuses 1 "--data books: its files are not those that the run in whole began with; put them back" \
  skip-thoughts neighbours whole "He ran."
mv as-it-was books/a.txt

# --- the evaluation, on data that single words decide, two of which the models know
mkdir -p tasks/sick tasks/sentiment
for part in train trial test_annotated; do
  printf 'pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n'
  for i in $(seq 40); do printf '%d\ta fish %d\ta %s %d\t%d.5\tX\n' "$i" $((i % 4)) "$([ $((i % 3)) = 0 ] && echo fish || echo cake)" $((i % 5)) $((1 + i % 3)); done
done >all.txt
split -l 41 all.txt part-
mv part-aa tasks/sick/SICK_train.txt && mv part-ab tasks/sick/SICK_trial.txt && mv part-ac tasks/sick/SICK_test_annotated.txt
for name in rt-polarity.pos custrev.pos subj.subjective mpqa.pos; do for i in $(seq 20); do echo "a good film $i"; done >tasks/sentiment/$name; done
for name in rt-polarity.neg custrev.neg subj.objective mpqa.neg; do for i in $(seq 20); do echo "a bad film $i"; done >tasks/sentiment/$name; done
"$lamina" skip-thoughts eval --features bag-of-words --data tasks --out words >out 2>err || broken err
check "bag of words: what words decide is decided" grep -q "MR 100.0, CR 100.0, SUBJ 100.0, MPQA 100.0" out
check "kept for the report" [ "$(cut -d, -f1,5 words/tasks.csv | tail -1)" = 0,100 ]
check "and replace no other run" refuses 2 "--out whole: holds other results; name another folder" skip-thoughts eval --features bag-of-words --data tasks --out whole
check "nor themselves" refuses 2 "--out words: holds these scores already; name" skip-thoughts eval --features bag-of-words --data tasks --out words
"$lamina" skip-thoughts eval all --data tasks --last >out 2>err || broken err
check "the untrained and the last snapshot of each are judged" [ "$(cut -d, -f1 all/none-b128/tasks.csv all/layer-b128/tasks.csv | xargs)" = "step 0 7 step 0 7" ]
check "Table 3 with an untrained row each" [ "$(grep -cE '^\| (baseline|layer norm), untrained \| 0 \|' all/table-3.md)" = 2 ]
check "Table 3 with a row each" [ "$(grep -cE '^\| (baseline|layer norm) \| 7 \|' all/table-3.md)" = 2 ]
"$lamina" skip-thoughts --preset small --norm layer --batch 128 --epochs 1 --evaluate-every 1000 --seeds 2 --out seeds >/dev/null 2>err || broken err
"$lamina" skip-thoughts eval seeds --data tasks --last >out 2>err || broken out err
check "runs that differ in their seed, each by its name and in their order" [ "$(sed -nE 's/^\| layer norm \((layer-seed[0-9])\) .*/\1/p' seeds/table-3.md | xargs)" = "layer-seed1 layer-seed2" ]
check "  where they are judged, too" [ "$(sed -nE 's/^(layer-seed[0-9]), update [1-9].*/\1/p' out | xargs)" = "layer-seed1 layer-seed2" ]
check "  also from within one" eval '(cd seeds/layer-seed2 && rm tasks.csv && "$lamina" skip-thoughts eval . --data ../../tasks --last >../../out) && grep -q "^layer-seed2, update 0: " out'
rm seeds/layer-seed2/tasks.csv
"$lamina" skip-thoughts eval seeds/layer-seed2 --data tasks --last >/dev/null 2>err & "$lamina" skip-thoughts eval seeds/layer-seed2 --data tasks --last >/dev/null 2>err2
wait $! || broken err
check "two at once keep the scores of an update once" [ "$(wc -l <seeds/layer-seed2/tasks.csv)" = 3 -a -z "$(cut -d, -f1 seeds/layer-seed2/tasks.csv | sort | uniq -d)" ]
cp all/none-b128/tasks.csv before.csv
"$lamina" skip-thoughts eval all --data tasks --last >out
check "what is judged is not judged again" cmp before.csv all/none-b128/tasks.csv
check "  and this is said" grep -qx "all/none-b128/tasks.csv: what is in it is not judged again; remove it to judge by other data" out
"$lamina" skip-thoughts eval all/none-b128 --data tasks >out
check "what is judged later stands in the order of the updates" [ "$(cut -d, -f1 all/none-b128/tasks.csv | xargs)" = "step 0 3 6 7" ]
check "--out with a run" refuses 2 "--out: the scores of a run are kept in its own folder" skip-thoughts eval all/none-b128 --data tasks --out elsewhere
printf '3 2\ndog 1 0\nfilm 0 1\nhe 1 1\n' >vectors.txt
"$lamina" skip-thoughts eval all/none-b128 --data tasks --last --sick early-stopping --word-vectors vectors.txt >out 2>err || broken err
check "scores by another protocol stand apart" [ "$(wc -l <all/none-b128/tasks-early-stopping-expanded.csv)" = 3 ]
check "word vectors that are none" refuses 1 "tasks/sick/SICK_trial.txt:1: is not the first line of word vectors" skip-thoughts eval all/none-b128 --data tasks --word-vectors tasks/sick/SICK_trial.txt
echo "he saw the film" >line
"$lamina" skip-thoughts encode whole <line >plain.npy && "$lamina" skip-thoughts encode whole --word-vectors vectors.txt <line >more.npy
check "a word from the word vectors changes its sentence" eval '[ "$(stat -c %s more.npy)" = "$(stat -c %s plain.npy)" ] && ! cmp -s plain.npy more.npy'

# --- usage: exit code 2; data: exit code 1
check "SGD needs its learning rate" refuses 2 "--optimizer sgd: give its learning rate with --lr" skip-thoughts --optimizer sgd --out s
check "unknown fit" refuses 2 "--sick" skip-thoughts eval all --data tasks --sick best
check "unknown condition" refuses 2 "--condition" skip-thoughts --condition never
check "unknown norm" refuses 2 "--norm" skip-thoughts --norm batch
check "batch larger than the data" refuses 2 "--batch 100000" skip-thoughts --batch 100000 --out large
check "batch larger than a pool" refuses 1 "is too short for a batch of 1000" skip-thoughts --batch 1000 --out large
check "missing books" refuses 1 "nowhere: is not a folder" skip-thoughts --data nowhere --out a
mkdir empty binary && : >empty/a.txt && printf 'a\n\0b\n' >binary/a.txt
check "an empty book" refuses 1 "empty/a.txt: is empty" skip-thoughts --data empty --out a
check "a binary book" refuses 1 "binary/a.txt:2: holds a zero byte" skip-thoughts --data binary --out a
check "eval without a run" refuses 2 "give the folder of a run" skip-thoughts eval --data tasks
check "eval of a run of something else" refuses 1 "nowhere" skip-thoughts eval nowhere --data tasks
check "encode with several variants" refuses 2 "all/layer-b64" skip-thoughts encode all
check "encode of nothing" refuses 1 "standard input: is empty" skip-thoughts encode whole </dev/null
printf '2\tx\ty\n' >>tasks/sick/SICK_trial.txt
check "SICK with a missing column" refuses 1 "tasks/sick/SICK_trial.txt:42: has 3 columns" skip-thoughts eval all --data tasks

finish
