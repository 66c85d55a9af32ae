#!/usr/bin/env bash
# tools/scaling: its arithmetic, the kept table and figure drawn again, the model against slow networks, and memory.
source "$(dirname "$0")/../checks.sh"
top=$(dirname "$(dirname "$lamina")")
results=$top/models/distributed/results

succeeds() {  # succeeds COMMAND...: shows what it said otherwise
  "$@" >log 2>&1 && return
  sed 's/^/  | /' log
  return 1
}
names() {  # names TEXT COMMAND...: fails with a line that contains TEXT
  local text=$1
  shift
  ! "$@" >/dev/null 2>err && grep -qF -- "$text" err
}

check "the model's arithmetic" succeeds python3 "$top/tests/tools/ranks/model_test.py"

# Without measuring: what is in the repository comes from the measurements beside it.
"$top/tools/scaling" predict --out drawn >said
check "the kept table is drawn again" cmp -s drawn/scaling.md "$results/scaling.md"
check "  and stands in the page" python3 -c "
assert open('$results/scaling.md').read() in open('$top/models/distributed/README.md').read()"
without_commit() { sed -E 's/commit [0-9a-f]{10}(-dirty)?/commit/' "$1"; }
if command -v gnuplot >/dev/null; then
  check "the kept figure is drawn again" cmp -s <(without_commit drawn/scaling.svg) <(without_commit "$results/scaling.svg")
fi
echo '{' >broken.json
check "broken measurements are named" names "broken.json: " "$top/tools/scaling" predict --measured broken.json

if "$lamina" --version | grep -q 'no MPI' || ! command -v mpirun >/dev/null; then
  echo "no MPI here: the model is not compared with runs, nor is memory"
  finish
  exit
fi
(cd "$top" && built build/bench_ranks) || exit 1
export TERM=dumb
check "a timeline has a sum for each bucket, of all gradients and of the loss" python3 -c "
import json, subprocess
line = json.loads(subprocess.run(['$top/build/bench_ranks', '--case', 'mnist', '--batch', '4', '--timeline', '--seconds', '0.1'],
                                 capture_output=True, text=True, check=True).stdout)
rest = sum(size for size, _ in line['sums']) - 4 * line['parameters'] - 16  # parameters begin at multiples of 64 bytes
assert 0 <= rest < 1024, line
assert all(0 < at <= line['wait_ms'] <= line['step_ms'] for _, at in line['sums']), line"
check "an unknown case is named" names "no case 'lstn'; --list shows them" "$top/build/bench_ranks" --case lstn --timeline

# Networks so slow that what else runs here does not count.
check "steps behind a slow network take as long as the model says" \
  succeeds "$top/tools/scaling" validate --megabits 400 --delay-ms 50 --rounds 1 --seconds 0.3 --tolerance 0.5
check "  and not to a hundred thousandth" bash -c \
  "! '$top/tools/scaling' validate --megabits --rounds 1 --seconds 0.1 --tolerance 0.00001 >out 2>&1 && grep -q 'ms added to a sum' out"
check "a rank takes no more memory than one process and one bucket" succeeds "$top/tools/scaling" memory
finish
