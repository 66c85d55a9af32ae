#!/usr/bin/env bash
# `lamina demo`: it ends with one table, the pictures, and sentences that say what was measured, whatever that was. And the plan
# that `make demo` begins with.
source "$(dirname "$0")/../checks.sh"
repository=${lamina%/build/lamina}
export LAMINA_SMOKE=1  # 1280 digits, 320 stories, one epoch

"$lamina" demo --seed 3 --threads 2 --out shown >out || broken
sed -n '/^The demo/,$p' out >end
check "a table with a row a norm" [ "$(grep -cE '^(baseline|batch norm|layer norm) +[0-9.]+% +[0-9.]+%$' end)" = 3 ]
check "the pictures" [ -s shown/stories/figure.png -a -s shown/digits/figure.png -a "$(grep -c '^picture: shown/' end)" = 2 ]
check "the paper's claims" [ "$(grep -c '^The paper, Section 6\.[26]: ' end)" = 2 ]
check "one seed decides nothing" grep -q '^One seed decides nothing' end
check "what to type next" grep -q 'attentive-reader show shown/stories/layer-gain-1 7' end
check "  which works" "$lamina" attentive-reader show shown/stories/layer-gain-1 7 >/dev/null

last() { awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) c = i } END { print 100 * $c }' "shown/$1/metrics.csv"; }
says() {  # says COLUMN NONE BATCH LAYER: the sentence with these runs' numbers and the verdict that follows from them
  local none batch layer verdict
  none=$(last "$2" "$1") batch=$(last "$3" "$1") layer=$(last "$4" "$1")
  verdict=$(awk -v n="$none" -v b="$batch" -v l="$layer" 'BEGIN { print l < n && l < b ? "as the paper says" : "not as the paper says" }')
  grep -qF "$(printf 'layer norm %.1f%%, baseline %.1f%%, batch norm %.1f%%: %s.' "$layer" "$none" "$batch" "$verdict")" end
}
check "what this run showed of stories" says valid_error stories/none stories/batch stories/layer-gain-1
check "  and of digits" says test_error digits/none-b4 digits/batch-b4 digits/layer-b4
"$repository/tests/tools/in_terminal.py" "$lamina" demo --seed 3 --threads 2 --out in-terminal >screen || broken
sed -E $'s/\r$//; s/.*\r//; s/\033\\[[0-9;]*[mK]//g' screen | sed -n '/^The paper, /,$p' >end
check "its end fits a terminal" [ -s end -a "$(awk 'length($0) > 80' end | wc -l)" = 0 ]
check "runs are not mixed" refuses 2 "--out shown: is there already" demo --out shown

"$repository/tools/demo-plan.sh" build/lamina >plan
check "make demo says what it will do" [ "$(grep -cE '^[123]\. ' plan)" = 3 ]
check "  and how long it trains" grep -qE '^3\. trains six small models: about [0-9]+ minutes? on [0-9]+ cores?$' plan
check "  that these are estimates" grep -q 'the times are estimates' plan
check "  and what comes after it" grep -q '^After it, make report' plan
nothing="build/nothing-of-it-is-built/lamina BUILD=build/nothing-of-it-is-built"
"$repository/tools/demo-plan.sh" $nothing TOGETHER= PRECOMPILED= >plan
check "  and how long it compiles" grep -qE '^2\. compiles [1-9][0-9]+ files: about [0-9]+ minutes? on [0-9]+ cores?$' plan
"$repository/tools/demo-plan.sh" $nothing TOGETHER=1 PRECOMPILED=1 >plan
check "  or how long in groups" grep -qE '^2\. compiles [1-9][0-9] groups of files: about [0-9]+ minutes? on [0-9]+ cores?$' plan

mkdir bare
for tool in bash cut dirname env fold grep head make nproc sed; do ln -s "$(command -v "$tool")" "bare/$tool"; done
stub() { printf '#!%s\n%s\n' "$(command -v bash)" "$2" >"bare/$1" && chmod +x "bare/$1"; }
stub dpkg-query "echo not-installed"
stub apt-get "[ ! -e $scratch/lists ] || printf '%s\n' '0 upgraded, 86 newly installed, 0 to remove and 1 not upgraded.' \
  'Need to get 40.3 MB of archives.' 'After this operation, 204 MB of additional disk space will be used.'"
PATH=$scratch/bare "$repository/tools/demo-plan.sh" build/lamina >plan
check "a fresh machine: the packages" grep -q libopenblas-openmp-dev plan
check "  what they were elsewhere" grep -q 'on a bare Debian 12: 133 packages' plan
touch lists
PATH=$scratch/bare "$repository/tools/demo-plan.sh" build/lamina >plan
check "  where apt-get knows, how many, how large and how long" \
  grep -q '86 packages, 40.3 MB to download, 204 MB on the disk: about 56 s and the download' <(tr -s '\n ' ' ' <plan)
check "  in lines that fit" [ "$(awk 'length($0) > 80' plan | wc -l)" = 0 ]

finish
