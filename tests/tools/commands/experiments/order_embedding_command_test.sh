#!/usr/bin/env bash
# lamina order-embedding from outside: three variants in one call, killed and resumed runs, searching, bad input.
source "$(dirname "$0")/../../checks.sh"
export LAMINA_SMOKE=12  # 320 training images and at most twelve epochs

# --- the three rows of Table 2 from one call
"$lamina" order-embedding --preset small --batch 64 --epochs 4 --validate-every 5 --out all >out 2>err || broken err
check "says that the data are synthetic" grep -q "not COCO" out
check "Table 2 and the time to the best model" [ "$(grep -cE '^\| (Sym|OE|OE \+ LN) \|' all/summary.md)" = 6 ]
check "one folder a variant, with its best model" \
  [ -s all/cosine-none/best.safetensors -a -s all/order-none/best.safetensors -a -s all/order-layer/best.safetensors ]
check "the test of each, for the report" [ "$(cat all/*/test.csv | grep -c ^4,)" = 3 ]
check "metrics at every validation" [ "$(cut -d, -f1,2 all/order-layer/metrics.csv | tr '\n' ' ')" = "validation,step 1,5 2,10 3,15 4,20 " ]

# --- the same run: uninterrupted and killed in the middle of a period
for optimizer in "--optimizer authors-adam --best-by image" "--optimizer sgd --lr 0.01"; do
  # shellcheck disable=SC2086
  killed_and_resumed order-embedding --score order --norm layer --preset small --batch 32 --threads 1 --epochs 6 --validate-every 15 $optimizer
  check "config.json keeps: $optimizer" grep -q "\"optimizer\": \"$(cut -d' ' -f2 <<<"$optimizer")\"" killed/config.json
  cp whole/model.safetensors "by-${optimizer:12:3}.safetensors"
  rm -rf whole killed
done
killed_and_resumed order-embedding --score order --norm layer --preset small --batch 32 --threads 2 --epochs 12 --validate-every 30

check "the optimizers end in different places" eval '! cmp -s by-aut.safetensors by-sgd.safetensors'

# --- searching
lists() {  # lists LINES PATTERN ARGUMENT...: LINES lines match
  local lines=$1 pattern=$2
  shift 2
  "$lamina" order-embedding search "$@" >out 2>err && [ "$(grep -cE "$pattern" out)" = "$lines" ] || { cat out err; return 1; }
}
check "images for a sentence" lists 5 '^image [0-9]+, score -?[0-9.e-]+: ' whole "A dog chases two cats."
check "unknown words are named" lists 1 '^not in the vocabulary: xylophone$' whole "a xylophone"
check "captions for an image" lists 3 '^[* ] score ' whole --image 7 --count 3
check "nothing to search" refuses 2 "give a sentence" order-embedding search whole
check "an image that is not there" refuses 2 "--image 100: the test images have the numbers 0 to 99" order-embedding search whole --image 100
check "a folder of several runs" refuses 2 "all/order-layer" order-embedding search all "a dog"
check "not a run" refuses 1 "nowhere: is not a run's folder" order-embedding search nowhere "a dog"

# --- usage: exit code 2; data: exit code 1
check "unknown score" refuses 2 "--score" order-embedding --score dot
check "unknown norm" refuses 2 "--norm" order-embedding --norm batch
check "unknown optimizer" refuses 2 "--optimizer" order-embedding --optimizer rmsprop
check "SGD needs its learning rate" refuses 2 "--optimizer sgd: give its learning rate with --lr" order-embedding --optimizer sgd --out s
check "unknown rule" refuses 2 "--best-by" order-embedding --best-by test
check "a batch of one pair, from which nothing is learned" refuses 2 "--batch 1: the loss compares a pair with the others" order-embedding --batch 1 --out one
check "batch larger than the data" refuses 2 "--batch 100000" order-embedding --batch 100000 --out large
check "two batch sizes" refuses 2 "--batch" order-embedding --batch 16,32 --out two
check "missing data folder" refuses 1 "nowhere" order-embedding --data nowhere --out a
mkdir -p bad/images/10crop && printf 'a dog\n\nb\nc\nd\n' >bad/train.txt
printf "\x93NUMPY\x01\x00\x44\x00{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }%9s\n12345678" "" >bad/images/10crop/train.npy
check "Fortran order" refuses 1 "bad/images/10crop/train.npy: is in Fortran order" order-embedding --data bad --out b
sed -i 's/True, /False,/' bad/images/10crop/train.npy
check "an empty line" refuses 1 "bad/train.txt:2: is an empty line" order-embedding --data bad --out c

check "several batch sizes" refuses 2 "--batch: one size at a time" order-embedding --preset small --batch 8,16 --out several
check "  and --help says so" grep -qE -- '(--batch .*| )cases per step, one size at a time$' <("$lamina" order-embedding --help)

finish
