#!/usr/bin/env bash
# lamina lab: the list, one lab, all from the committed results, which must say what models/lab/README.md says.
source "$(dirname "$0")/../checks.sh"
repository=${lamina%/build/lamina}
make --no-print-directory -s -C "$repository" build/lamina-double >/dev/null || exit 1
lab=$repository/models/lab

"$lamina" lab >list
names=$(grep -v '^ ' list)
check "labs are listed" grep -qx reparameterization <<<"$names"
check "an unknown lab is named" refuses 2 "'nothing' is no lab; there are " lab nothing
check "a missing file is named" refuses 1 "nowhere.csv" lab reparameterization --from nowhere.csv
printf 'seed,variant,quantity,x,value\n1,a,b,0\n' >damaged.csv
check "a damaged file is named with its line" refuses 1 "damaged.csv" lab reparameterization --from damaged.csv
printf 'seed,variant,quantity,x,value\n1,a,b,0,1\n' >other.csv
check "rows of other quantities are refused, and their file is named" refuses 1 "other.csv: lab: seed 1 has no" lab reparameterization --from other.csv
for flag in seeds seed jobs; do
  check "--$flag without measuring" refuses 2 "excludes" lab reparameterization --from "$lab/results" --$flag 2 --out ignored
done
for flag in seeds seed jobs from out rows; do
  check "--$flag without a lab" refuses 2 "NAME" lab --$flag 2
done
check "a missing folder of rows, before they are measured" refuses 2 "--rows nowhere/rows.csv: there is no folder nowhere" \
  lab reparameterization --rows nowhere/rows.csv
check "--seeds of the rows of one seed" refuses 2 "excludes" lab reparameterization --rows rows.csv --seeds 2

LAMINA_SMOKE=1 "$lamina" lab all --out smoke >smoke.txt
check "all labs run" [ $? = 0 ]
for name in $names; do
  for file in "$name.csv" curves.csv summary.md verdicts.json config.json figure.svg; do
    check "lab $name writes $file" [ -s "smoke/$name/$file" ]
  done
done

"$lamina" lab reparameterization --from smoke/reparameterization --out "smoke again" >/dev/null || broken
check "rows that were cut down are so again" grep -q '"smoke": 1' "smoke again/config.json"

check "FILES.md defines every column" "$repository/tests/models/run/csv_columns.py" smoke

"$lamina" lab all --from "$lab/results" --out kept >kept.txt
check "all labs are shown from the committed results" [ $? = 0 ]
check "README.md has the table of the committed results" diff <(grep '^| `' kept/summary.md) <(grep '^| `' "$lab/README.md")
kept() { for file in "$lab"/$1; do file=${file##*/}; file=${file%.*}; [ "$file" = README ] || echo "${file//_/-}"; done | sort; }
for files in 'results/*.csv' 'figures/*.svg' '*/*.md'; do
  check "$files are those of the labs" diff <(kept "$files") <(sort <<<"$names")
done
by_interval=$(grep '^| `' "$lab/README.md" | grep -cvE 'in [0-9]+ of [0-9]+ seeds')
check "README.md has $by_interval verdicts by an interval and says so" grep -q " $by_interval such verdicts stand below" "$lab/README.md"
for name in $names; do
  page=$(find "$lab" -name "${name//-/_}.md")
  check "lab $name has a page of at most 40 lines" [ "$(wc -l <"$page")" -le 40 ]
  check "the page of lab $name is linked" grep -qF "(${page#"$lab/"})" "$lab/README.md"
  check "and shows its figure" grep -qF "(../figures/$name.svg)" "$page"
  check "which is there" [ -s "$lab/figures/$name.svg" ]
done

finish
