#!/usr/bin/env bash
# `lamina handwriting` from outside: both variants in one call, killed and resumed runs, writing, bad input.
source "$(dirname "$0")/../../checks.sh"
export LAMINA_SMOKE=3  # 64 training lines and at most three epochs

# --- bad input
check "unknown norm" refuses 2 "--norm" handwriting --norm batch
check "batch larger than the data" refuses 2 "--batch 1000" handwriting --batch 1000 --out large
check "two lengths of a run" refuses 2 "--epochs excludes --updates" handwriting --updates 4 --epochs 1 --out both-lengths
check "no such length" refuses 2 "--length" handwriting --length 1 --out short
check "missing data folder" refuses 1 "nowhere: no lineStrokes" handwriting --data nowhere --out a
check "write without a run" refuses 2 "RUN" handwriting write
check "write what is no run" refuses 1 "nothing: is not a run" handwriting write nothing "a text"
check "symbols outside the alphabet are named" refuses 2 "does not know '4!'" handwriting write nothing "no. 44!!"
check "so are those of several bytes" refuses 2 "does not know 'éè'" handwriting write nothing "né, né, è"
check "a text without end" refuses 2 "give at most 1000" handwriting write nothing "$(printf 'a%.0s' {1..1001})"
mkdir other && cat >other/config.json <<'END'
{"experiment": "mnist", "variant": "", "settings": {}, "lamina": "", "scalar": "float", "threads": 1, "backend": ""}
END
check "write with another experiment's run" refuses 2 "a run of lamina mnist" handwriting write other "a text"
check "pen without anything to write" refuses 2 "no printable characters" handwriting pen "  "
check "pen with a letter that it would leave out" refuses 2 "not printable ASCII" handwriting pen "déjà vu"
check "pen with two lines" refuses 2 "not printable ASCII" handwriting pen $'one\ntwo'

# --- the pen's files are a data set
mkdir -p iam/lineStrokes/a01/a01-000 iam/ascii/a01/a01-000
for form in a01-000u a01-000v; do
  printf 'CSR:\n\nfirst line\nsecond line\n' >iam/ascii/a01/a01-000/$form.txt
  for line in 01 02; do
    "$lamina" handwriting pen "first line" --out iam/lineStrokes/a01/a01-000/$form-$line.xml >/dev/null
  done
done
for list in trainset testset_t testset_f; do echo a01-000u >iam/$list.txt; done
echo a01-000v >iam/testset_v.txt
"$lamina" handwriting --data iam --preset small --batch 2 --updates 1 --out fromiam >out || broken out
check "reads IAM-OnDB's files" grep -q "IAM-OnDB in iam: 2 training lines, 2 test lines" out
# --- lines of some 5000 points
mkdir -p long-lines/lineStrokes/a01/a01-000 long-lines/ascii/a01/a01-000
cp iam/*.txt long-lines
long=$(printf 'the quick brown fox jumps over it %.0s' 1 2 3 4 5 6 7 8)
for form in a01-000u a01-000v; do
  printf 'CSR:\n\n%s\n' "$long" >long-lines/ascii/a01/a01-000/$form.txt
  "$lamina" handwriting pen "$long" --out long-lines/lineStrokes/a01/a01-000/$form-01.xml >/dev/null
done
check "they are long" [ "$(grep -o '<Point' long-lines/lineStrokes/a01/a01-000/a01-000u-01.xml | wc -l)" -gt 4700 ]
check "long lines train with checkpoints" "$lamina" handwriting --data long-lines --preset small --batch 1 --updates 1 --length 5000 --out long >out

# --- broken files
strokes=iam/lineStrokes/a01/a01-000/a01-000u-02.xml
broken() {  # broken TITLE TEXT CONTENT
  printf '%s' "$3" >$strokes
  check "$1" refuses 1 "$strokes: $2" handwriting --data iam --out b
}
broken "malformed XML" "is not XML" '<StrokeSet><Stroke>'
broken "XML with entities" "has a DOCTYPE" '<!DOCTYPE a [<!ENTITY b "&c;&c;">]><Stroke><Point x="&b;" y="1"/></Stroke>'
broken "a file without points" "has no points" '<StrokeSet/>'
cp ${strokes%2.xml}1.xml $strokes
rm iam/testset_t.txt
check "three of the four lists" refuses 1 "iam/testset_t.txt: not found, but iam/trainset.txt" handwriting --data iam --out c

# --- the synthetic pen
check "pen" "$lamina" handwriting pen ab --out pen.xml >/dev/null
check "again in the same place" "$lamina" handwriting pen ab --out pen.xml >/dev/null
echo mine >notes.txt
check "not over what is somebody's" refuses 2 "--out notes.xml: notes.txt would be replaced; give the file another name" handwriting pen ab --out notes.xml
check "  which is still there" [ "$(cat notes.txt)" = mine -a ! -e notes.xml ]
check "its strokes, text and pictures" [ "$(grep -c '<Stroke>' pen.xml)" -gt 0 -a -s pen.txt -a -s pen.svg -a -s pen.png ]
for ending in txt svg png; do
  check "strokes in the place of the $ending" refuses 2 "--out line.$ending: .$ending is for what is put beside the strokes" handwriting pen ab --out line.$ending
done

# --- both variants from one call
"$lamina" handwriting --norm none,layer --preset small --updates 4 --length 60 --out both >out 2>err || broken out err
check "prints the number of parameters" grep -q "baseline, batch 8 (312651 parameters)" out
check "says that the lines are synthetic" grep -q "not IAM-OnDB" out
check "the table" [ "$(grep -cE '^\| (baseline|layer norm) \|' both/summary.md)" = 2 ]
check "the figure" [ -s both/figure.svg ]
"$lamina" handwriting --preset small --updates 100 --batch 32 --length 10 --out bounded >/dev/null
check "LAMINA_SMOKE bounds --updates, too" [ "$(tail -n 1 bounded/metrics.csv | cut -d, -f2)" = 6 ]

# --- the same run: uninterrupted, and killed in between
LAMINA_SMOKE=75 killed_and_resumed handwriting --norm layer --preset small --length 60 --threads 2 --seed 5 --updates 600
check "models are kept on the way" [ -s whole/model-200.safetensors -a -s whole/model-400.safetensors ]

# --- writing
is_png() { [ "$(head -c 8 "$1" | tail -c 7 | head -c 3)" = PNG ]; }
check "write" "$lamina" handwriting write whole "any text" --bias 1 --seed 7 >out
for picture in writing window; do check "$picture.png" is_png whole/$picture.png; done
check "writing.svg" grep -q '<path d=" M' whole/writing.svg
cp whole/writing.svg first.svg
check "write again" "$lamina" handwriting write whole "any text" --bias 1 --seed 7 >out
check "the same seed writes the same" cmp -s first.svg whole/writing.svg
check "a line to imitate" "$lamina" handwriting write whole "any text" --prime iam/lineStrokes/a01/a01-000/a01-000u-01.xml >out
check "a line that is not there" refuses 1 "nowhere.xml: cannot be read" handwriting write whole "any text" --prime nowhere.xml
check "it changes the hand" [ "$(cmp first.svg whole/writing.svg | wc -l)" = 1 ]
check "stages" "$lamina" handwriting write whole "any text" --stages >out
check "a line a stage" [ "$(grep -c '<path' whole/stages.svg)" = 3 ]
check "every variant of a folder" "$lamina" handwriting write both "any text" >out
check "writes in each" [ -s both/none-b8/writing.svg -a -s both/layer-b8/writing.svg ]

finish
