#!/usr/bin/env bash
# `lamina draw` from outside: killed and resumed runs, pictures, bad input.
source "$(dirname "$0")/../../checks.sh"
export LAMINA_SMOKE=3  # 512 training images and at most three epochs

# --- bad input
check "unknown norm" refuses 2 "--norm" draw --norm batch
check "batch larger than the data" refuses 2 "--batch 1000" draw --batch 1000 --out large
check "missing data folder" refuses 1 "nowhere" draw --data nowhere --out a
check "sample without a run" refuses 2 "RUN" draw sample
check "sample with a setting that the run has" refuses 2 "--norm: in front of sample" draw --norm layer sample nothing
check "sample what is no run" refuses 1 "nothing: is not a run" draw sample nothing
mkdir other && cat >other/config.json <<'END'
{"experiment": "mnist", "variant": "", "settings": {}, "lamina": "", "scalar": "float", "threads": 1, "backend": ""}
END
check "sample another experiment's run" refuses 2 "a run of lamina mnist" draw sample other
broken_data() {  # broken_data NAME BYTES: the training file of the fixed binarization
  mkdir "$1" && printf '%b' "$2" >"$1/binarized_mnist_train.amat"
}
row=$(printf '0 %.0s' $(seq 783))
broken_data empty ""
check "empty .amat" refuses 1 "empty/binarized_mnist_train.amat: line 1: the file is empty" draw --data empty --out b
broken_data short "${row}1\n${row}\n"
check "783 columns" refuses 1 "short/binarized_mnist_train.amat: line 2: has 783 columns, not 784" draw --data short --out c
broken_data token "${row}1\n${row}x\n"
check "a token that is no bit" refuses 1 "token/binarized_mnist_train.amat: line 2: 'x' where 0 or 1" draw --data token --out d

# --- the same run: uninterrupted, and killed in the middle of an epoch
killed_and_resumed draw --norm layer --preset small --batch 8 --threads 2 --seed 5 --epochs 3

# --- several batch sizes
"$lamina" draw --preset small --threads 1 --norm none,layer --batch 256,512 --epochs 1 --out sizes >out 2>err || broken err
check "rows tell them apart" [ "$(cut -d'|' -f2 sizes/summary.md | sort -u | grep -c 'batch')" = 4 ]
check "a row of digits has a column for it" grep -qE '^\| layer norm \| 640 \|' <(
  "$lamina" mnist --threads 1 --norm layer --batch 320,640 --epochs 1 --out digits >out && cat digits/summary.md)

# --- pictures
check "sample" "$lamina" draw sample whole >out
is_png() { [ "$(head -c 8 "$1" | tail -c 7 | head -c 3)" = PNG ]; }
for picture in samples glimpses animation; do check "$picture.png" is_png whole/$picture.png; done
check "the animation has a frame a glimpse, and one more" [ "$(grep -ao fcTL whole/animation.png | wc -l)" = 17 ]
sed -i 's/"glimpses": 16/"glimpses": 12/' whole/config.json
"$lamina" draw sample whole >out
check "their number is the run's, whatever the preset's is now" [ "$(grep -ao fcTL whole/animation.png | wc -l)" = 13 ]

finish
