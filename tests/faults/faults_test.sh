#!/usr/bin/env bash
# A sample of every class of faults; `make faults` tries all of them. Damaged files are tried in full.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
make --no-print-directory -s build/lamina fault-library >/dev/null 2>&1 || make -s build/lamina fault-library || exit 1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0
tries() {  # tries OPTION...: prints what is wrong and counts
  tests/faults/faults.py "$@" >"$log"
  grep FAILED "$log"
  local p f
  read -r p _ f _ <<<"$(tail -n 1 "$log")"
  passed=$((passed + p)) failed=$((failed + f))
}
tries --classes damage
tries --classes operations,kills,signals,disks --experiments draw,attentive-reader --every 40 --kills 12 --signals 1 --disks 6
tries --classes output,memory --experiments attentive-reader --megabytes 200
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
