# Sourced by the tests of commands: builds `lamina`, works in a temporary folder, and counts.
#
#   source "$(dirname "$0")/checks.sh"
#   check "batch 0" refuses 2 "--batch" mnist --batch 0
#   killed_and_resumed mnist --norm batch --epochs 3
#   finish
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
lamina=$PWD/build/lamina

built() {  # built TARGET: up to date, silently unless that fails
  make --no-print-directory -s "$1" >/dev/null 2>&1 || make -s "$1"
}
built build/lamina || exit 1

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
passed=0 failed=0 skipped=0
exec 3>&1  # for what is said of a failure where a check's own output goes elsewhere

check() {  # check TITLE CONDITION-COMMAND...
  local title=$1
  shift
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $title" >&3; fi
}

broken() {  # COMMAND || broken FILE...: a command that must end well, and the files with what it said
  failed=$((failed + 1))
  echo "FAILED: the command of line ${BASH_LINENO[0]} ends with an error" >&3
  [ $# = 0 ] || cat "$@" >&3
}

refuses() {  # refuses CODE TEXT ARGUMENT...: lamina prints one line on stderr that contains TEXT and exits with CODE
  local code=$1 text=$2 status=0
  shift 2
  "$lamina" "$@" >out 2>err || status=$?
  [ "$status" = "$code" ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "$text" err && return
  echo "  lamina $*: exit code $status, wanted $code with '$text'; it said:"
  sed 's/^/  | /' err
  return 1
}

# killed_and_resumed COMMAND ARGUMENT...: lamina COMMAND ARGUMENT... in the folder `whole`, and in `killed`, where it
# is killed after its first checkpoint, before its last evaluation, and resumed. Every model and all columns of metrics.csv but
# its last, the seconds, must be the same.
killed_and_resumed() {
  local victim model pause
  "$lamina" "$@" --out whole >out || broken out
  ends_early() { [ "$(wc -l <killed/metrics.csv)" -lt "$(wc -l <whole/metrics.csv)" ]; }
  for pause in 0.1 0.01 0; do  # on a fast machine the run may have ended by then
    rm -rf killed
    "$lamina" "$@" --out killed >/dev/null &
    victim=$!
    for _ in $(seq 3000); do [ -e killed/state ] && break; sleep 0.02; done
    sleep $pause
    kill -9 $victim 2>/dev/null
    wait $victim 2>/dev/null
    ends_early && break
  done
  check "a killed run leaves a checkpoint" [ -s killed/state ]
  check "  before its last evaluation" ends_early
  "$lamina" "$1" --resume --out killed >/dev/null || broken
  for model in whole/*.safetensors; do
    check "killed and resumed: the same ${model#whole/}, bit for bit" cmp -s "$model" "killed/${model#whole/}"
  done
  check "killed and resumed: the same steps.csv" cmp -s whole/steps.csv killed/steps.csv
  check "killed and resumed: the same metrics" cmp -s <(without_seconds whole/metrics.csv) <(without_seconds killed/metrics.csv)
}
without_seconds() { sed 's/,[^,]*$//' "$1"; }

finish() {
  echo "$passed passed, $failed failed$([ "$skipped" = 0 ] || echo ", $skipped skipped")"
  [ "$failed" = 0 ]
}
