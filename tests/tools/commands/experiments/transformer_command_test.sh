#!/usr/bin/env bash
# lamina transformer from outside: several variants in one call, killed and resumed runs, writing, bad input.
source "$(dirname "$0")/../../checks.sh"
export LAMINA_SMOKE=3 # a few stories, at most three epochs
tiny=(transformer --layers 1 --width 16 --heads 2 --validate-every 40 --sample 40)

norms=$("$lamina" transformer --help | sed -n 's/^ *--norm TEXT:{\([^}]*\)}.*/\1/p')
check "its page lists the norms" grep -qF "| \`--norm\` | ${norms//,/, }." "${lamina%/build/lamina}/models/transformer/README.md"

# --- two norms at two places from one call
"$lamina" "${tiny[@]}" --length 16 --batch 8 --norm rms,layer --placement post,pre --updates 50 --warmup 5 --out all >out 2>err || broken err
check "says that the data are no book" grep -q "built-in stories, not a book" out
check "one folder a variant, with its best model, test and samples" \
  [ -s all/post-rms/best.safetensors -a -s all/pre-layer/test.csv -a -s all/post-layer/samples.txt -a -s all/pre-rms/vocabulary.txt ]
check "a table of all" [ "$(grep -cE '^\| (post|pre)-LN, (rms|layer) norm \|' all/summary.md)" = 4 ]
check "metrics at every validation" [ "$(cut -d, -f1,2 all/pre-layer/metrics.csv | tr '\n' ' ')" = "validation,step 1,40 2,50 " ]
"$lamina" "${tiny[@]}" --length 16 --batch 8 --norm rms,layer --placement pre,scaled-pre --updates 3 --out scaled >out 2>err || broken err
check "a figure tells pre from scaled pre" [ "$(grep -c stroke-dasharray scaled/figure.svg)" = 2 ]
"$lamina" "${tiny[@]}" --length 16 --batch 8 --norm none,layer --placement post,scaled-pre,pre --updates 3 --out alike >out 2>err || broken err
check "without a norm post and pre are one model, trained once" [ "$(cd alike && echo *-none)" = "post-none scaled-pre-none" ]
check "  and its title names both places" grep -qF '| post-LN = pre-LN, baseline |' alike/summary.md
check "a sample at every validation" [ "$(grep -c '^after ' all/pre-layer/samples.txt)" = 2 ]

# --- the same run: uninterrupted and killed in the middle of a period
for flags in "--dropout 0.1 --positions learned --decay none --record every=20" "--norm dyt --placement sandwich --start gpt2 --weight-decay 0.1"; do
  # shellcheck disable=SC2086
  killed_and_resumed "${tiny[@]}" --threads 2 --length 16 --batch 2 --updates 1500 $flags
  check "killed and resumed: the same samples ($flags)" cmp -s whole/samples.txt killed/samples.txt
  [ "$flags" = "${flags/--record/}" ] || {
    check "killed and resumed: the same record" cmp -s whole/record.csv killed/record.csv
    check "the record has every norm" [ "$(cut -d, -f2 whole/record.csv | sort -u | grep -c norm)" = 3 ]
    "$lamina" inspect killed >out 2>err || broken err
    check "inspect shows them" grep -q "block1.feed_forward_norm" out
  }
  rm -rf whole killed
done

# --- the beginning of a text alone
"$lamina" "${tiny[@]}" --length 16 --batch 8 --norm group --updates 3 --train-on 600 --out short >out 2>err || broken err
check "trains on the beginning of the text, and says so" grep -q "trains on the first 600 alone" out
check "group norm, too" grep -qE '^\| pre-LN, group norm \|' short/summary.md
check "its alphabet is that of the whole text" cmp -s short/vocabulary.txt all/pre-rms/vocabulary.txt
on_all_stories() (unset LAMINA_SMOKE; "$@")
check "more of the text than there is" on_all_stories \
      refuses 2 "--train-on 10000000: the text to train on has" "${tiny[@]}" --train-on 10000000 --out long

# --- words, and a book of one's own
mkdir books
for _ in $(seq 30); do printf 'It was caf\xe9 time, and she went on.\r\n\r\n'; done >books/emma.txt
"$lamina" "${tiny[@]}" --batch 8 --data books --book emma --unit word --length 8 --out words >out 2>err || broken err
check "a model of words says so" grep -q "words to train on" out
check "  and counts bits of them" grep -q "bits per word" words/summary.md

# --- writing
writes() { # writes PATTERN ARGUMENT...: the text begins so
  local pattern=$1
  shift
  "$lamina" transformer write "$@" >out 2>err && grep -qE "$pattern" <(head -n 1 out) || { cat out err; return 1; }
}
check "goes on with a prompt" writes '^anna' all/pre-layer "anna" --length 100
check "  as long as was asked for" [ "$(tr -d '\n' <out | wc -c)" -ge 90 ]
cp out first
check "  beyond what the model sees, and again the same" writes '^anna' all/pre-layer "anna" --length 100
check "  in all of it" cmp -s out first
check "  but for another seed" writes '^anna' all/pre-layer "anna" --length 100 --seed 2
check "  which differs" eval '! cmp -s out first'
check "the likeliest" writes '^anna' all/post-rms "anna" --length 20 --temperature 0
check "a model of words writes words" writes '^It was' words "It was" --length 5 --top-k 3
check "an empty prompt" refuses 2 "PROMPT" transformer write all/pre-layer ""
check "a prompt of spaces" refuses 2 "write: the prompt is empty" transformer write words "  "
check "characters it never saw" refuses 2 "write: the model was trained on a text without 'X', '#'; leave it out" transformer write all/pre-layer "annaX#X"
check "words it does not know" refuses 2 "knows the most frequent words of its text, and not 'Tuesday'" transformer write words "It was Tuesday"
check "a prompt longer than it sees" refuses 2 "write: the prompt has 20 characters, but the model sees at most 16" transformer write all/pre-layer "anna went to a river"
check "a folder of several runs" refuses 2 "all/pre-layer" transformer write all "anna"
check "not a run" refuses 1 "nowhere: is not a run's folder" transformer write nowhere "anna"
rm all/post-rms/vocabulary.txt
check "without its vocabulary" refuses 1 "vocabulary.txt" transformer write all/post-rms "anna"

# --- usage: exit code 2; data: exit code 1
check "a width that the heads do not divide" refuses 2 "--width 30: it is not divisible by --heads 4" transformer --width 30 --heads 4 --out a
check "rotary positions of an odd width" refuses 2 "--positions rotary" transformer --width 9 --heads 3 --positions rotary --out a
check "a length beyond the text" refuses 2 "--length 30000: the text to train on has" transformer --length 30000 --out a
check "a batch larger than the text" refuses 2 "--batch 4000" transformer --batch 4000 --out a
check "a ghost batch of one part" refuses 2 "--norm ghost-batch: its parts have 32 cases or more, so that --batch 16 is one part" transformer --norm ghost-batch --batch 16 --out a
check "a width that the groups do not divide" refuses 2 "--norm group: its 8 groups do not divide --width 20" transformer --norm layer,group --width 20 --heads 2 --out a
check "a width that leaves each group a single number" refuses 2 "do not divide --width 8 into parts of two and more" transformer --norm group --width 8 --heads 2 --out a
check "an unknown placement" refuses 2 "--placement" transformer --placement behind
check "an unknown norm" refuses 2 "--norm" transformer --norm instance
check "a book without a folder" refuses 2 "--book emma: without --data" transformer --book emma --out a
check "a book that is not there" refuses 2 "--book anna: no such text in books; there are emma" transformer --data books --book anna --out a
check "a missing folder" refuses 1 "nowhere: is not a folder" transformer --data nowhere --out a
check "nothing was made" [ ! -e a ]

finish
