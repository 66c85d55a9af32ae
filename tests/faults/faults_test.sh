#!/usr/bin/env bash
# A sample of every class of faults; `make faults` tries all of them. Damaged files are tried in full.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
make --no-print-directory -s build/lamina fault-library >/dev/null 2>&1 || make -s build/lamina fault-library || exit 1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0
tries() {  # tries OPTION...: prints failures and counts
  tests/faults/faults.py "$@" >"$log" 2>&1
  grep FAILED "$log"
  local p f
  read -r p f <<<"$(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed.*/\1 \2/p' "$log")"
  [ -n "$p" ] || { echo "FAILED: faults.py $* stopped"; p=0 f=1; }
  passed=$((passed + p)) failed=$((failed + f))
}
tries --classes damage
tries --classes operations,kills,signals,disks --experiments draw,attentive-reader --every 40 --kills 12 --signals 1 --disks 6
tries --classes output,memory --experiments attentive-reader --megabytes 200
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
