#!/usr/bin/env bash
# README.md's table of the paper's claims, and the report's verdicts, must be that of the committed results, and the check must notice when it is not.
source "$(dirname "$0")/checks.sh"
root=${lamina%/build/lamina}

check "README.md has the table of the committed results" "$root/tools/paper-claims.py" --check

mkdir -p copy/tools copy/models && ln -s "$root/build" copy/build
cp "$root/tools/paper-claims.py" copy/tools && cp "$root/README.md" copy
(cd "$root" && find models layers tools -name '*.md' -o -path '*/results/*' -type f -o -name paper.json -o -name claims.json) |
  tar -C "$root" -cf - -T - | tar -C copy -xf -
list=copy/models/evidence/paper.json

notices() {  # notices TEXT: the check fails in one line that contains TEXT
  local status=0
  copy/tools/paper-claims.py --check >out 2>err || status=$?
  [ "$status" = 1 ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "$1" err && return
  echo "  exit code $status, wanted 1 with '$1'; it said:" && sed 's/^/  | /' err
  return 1
}
changed() {  # changed FILE FROM TO TEXT: with FILE so changed the check notices
  cp "$1" before && sed -i "s/$2/$3/" "$1"
  notices "$4"
  local status=$?
  cmp -s before "$1" && echo "  nothing was changed" && status=1
  mv before "$1"
  return $status
}
check "the copy has it too" copy/tools/paper-claims.py --check
check "another verdict in README.md" changed copy/README.md '| holds |' '| cannot be told |' "README.md: its table of claims is not"
check "a page that another training changed" changed copy/models/handwriting/README.md '| -861.4 |' '| -816.4 |' "README.md: its table of claims is not"
check "other numbers of a lab" changed copy/models/lab/results/online.csv '^1,.*' '' "lab online: "
check "a claim that no lab has" changed $list 'Layer norm learns: ' 'Layer norm: ' "lab online has 0 claims 'Layer norm: "
check "a claim of the paper that is not in the list" changed copy/models/attentive_reader/results/books/verdicts.json '"claim": "' '"claim": "The paper (6.2): ' \
  "paper.json: lacks the claim of models/attentive_reader/results/books 'The paper (6.2): A dropout"
check "a table that is gone" changed copy/models/handwriting/README.md '| test NLL | test NLL after' '| test NLL | NLL after' "no table of models/handwriting/README.md has the column 'test NLL after 800 updates'"
check "a sentence that is gone" changed copy/models/analysis/README.md 'All 18 verdicts' 'Most verdicts' "does not say 'All 18 verdicts"
check "no place for the table" changed copy/README.md '<!-- end of claims -->' '' "README.md: has no place for the table"
check "other verdicts in claims.json" changed copy/models/evidence/claims.json '"holds"' '"open"' "models/evidence/claims.json: is not that of the committed"
sed -i '/^| 3.1 /d' copy/README.md
echo '[]' >copy/models/evidence/claims.json
copy/tools/paper-claims.py --write
check "--write writes claims.json" cmp -s copy/models/evidence/claims.json "$root/models/evidence/claims.json"
check "--write puts it there" cmp -s copy/README.md "$root/README.md"

finish
