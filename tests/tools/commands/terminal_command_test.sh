#!/usr/bin/env bash
# What a person sees in a terminal of 80 columns while models are trained, and after Ctrl-C: the bar, the lines of metrics,
# the table, colours.
source "$(dirname "$0")/../checks.sh"
export LAMINA_SMOKE=3
unset NO_COLOR
in_terminal=${lamina%/build/lamina}/tests/tools/in_terminal.py

bars() { tr '\r' '\n' <"$1" | grep -aF $'\033[K' | sed $'s/\033\\[K.*//' | grep -a '%'; }
# Lines as the terminal shows them: what is drawn over is gone, and so are colours.
lines() { sed -E $'s/\r$//; s/.*\r//; s/\033\\[[0-9;]*[mK]//g' "$1"; }
fits() { awk -v most="$2" 'length($0) > most { print "  " length($0) ": " $0; bad = 1 } END { exit bad }' "$1"; }

run=(mnist --preset small --norm none,layer --batch 4 --threads 2)
"$in_terminal" "$lamina" "${run[@]}" --epochs 3 --out whole >screen || broken
bars screen >bars
lines screen >lines
check "the bar says which variant, which epoch" grep -qE '^variant 2/2, epoch [1-3]/3  \[[=> ]+\]' bars
check "  a running loss" grep -qE '  loss [0-9.e-]+' bars
check "  and the time left for all variants" grep -qE '  [0-9]+:[0-9]{2} left in all' bars
check "  and ends before the last column" fits bars 79
check "each variant is named once, with its size" \
  [ "$(grep -cE '^variant [12]/2: (baseline|layer norm), batch 4 \([0-9]+ parameters\)$' lines)" = 2 ]
check "three metrics a line" \
  [ "$(grep -cE '^epoch [1-3]/3:  train nll [0-9.e-]+  valid error [0-9.]+%  test error [0-9.]+%$' lines)" = 6 ]
check "  the others are in the CSV" grep -q '^epoch,step,train_nll,valid_nll,valid_error,test_nll,test_error,seconds$' whole/none-b4/metrics.csv
check "none of these lines is wider than the terminal, nor the table" fits <(grep -E '^(variant|epoch|baseline|layer)' lines) 80
check "the table's columns are aligned" [ "$(grep -A3 '^----' lines | awk '{ print length($0) }' | sort -u | wc -l)" -le 2 ]
check "its best numbers are bold" grep -qaE $'\033\\[1m[0-9.]+%\033\\[0m' screen
check "  and marked in summary.md" grep -qE '\| \*\*[0-9.]+%\*\* \|' whole/summary.md

NO_COLOR=1 "$in_terminal" "$lamina" "${run[@]}" --epochs 1 --out plain >screen || broken
check "NO_COLOR: a bar" grep -qa 'left in all' screen
check "  and no colour" [ "$(grep -ac $'\033\\[[0-9;]*m' screen)" = 0 ]
"$lamina" "${run[@]}" --epochs 1 --out piped >screen || broken
check "a pipe: neither bar nor colour" [ "$(grep -c $'[\r\033]' screen)" = 0 ]
check "  but the metrics" grep -q '^epoch 1/1:  train nll ' screen

LAMINA_SMOKE=50 "$in_terminal" --columns 50 --stop-at "left in all" "$lamina" mnist --preset small --norm none,layer \
  --batch 128,4 --epochs 50 --out none >screen
check "a run of 50 epochs is stopped" [ $? = 130 ]
check "a narrow terminal is not overrun" fits <(bars screen) 49

# --- --help and list. Examples stay whole, so that they can be copied.
help_fits() {  # help_fits COLUMNS SED-COMMAND: without what this leaves out
  local command
  for command in "" $("$lamina" list | cut -f1); do
    "$in_terminal" --columns "$1" "$lamina" $command --help >screen
    fits <(lines screen | grep -vE 'lamina ' | sed "$2") "$1" || return 1
  done
}
check "--help fits 80 columns" help_fits 80 ''
check "  and its flags 50" help_fits 50 '/^FILE is JSON/,$d; /^[^ ]/d'
"$in_terminal" "$lamina" list >screen
check "list, too, in two columns" [ "$(grep -cE '^  [a-z-]+ {10,}[a-zA-Z]' screen)" = "$("$lamina" list | wc -l)" ]
check "  that fit" fits <(lines screen) 80

# --- Ctrl-C: table and figure of what is done
LAMINA_SMOKE=2 "$in_terminal" --stop-at "variant 2/2: layer" "$lamina" mnist --preset small --norm none,layer --batch 4 --epochs 2 \
  --out stopped >screen
check "Ctrl-C in the second variant: exit code 130" [ $? = 130 ]
check "  the first one's row" [ "$(grep -c '^| baseline |' stopped/summary.md)" = 1 ]
check "  and no other" [ "$(grep -c '^| layer norm |' stopped/summary.md)" = 0 ]
check "  its figure" [ -s stopped/figure.svg ]
check "  how to go on" grep -q "go on with: lamina mnist --resume --out stopped" screen
LAMINA_SMOKE=2 "$lamina" mnist --resume --out stopped >out || broken
check "  and then the table of both" [ "$(grep -cE '^\| (baseline|layer norm) \|' stopped/summary.md)" = 2 ]

finish
