#!/usr/bin/env bash
# Runs test programs and ends with one line that sums up their test cases: "12 passed, 0 failed" (", 3 skipped").
#
#   tools/run-tests.sh [--parts N] PROGRAM... [--skip-slow PROGRAM...]
#
# Two run at a time, so put the longest first; the output of each stays together. A PROGRAM is a doctest binary, or a
# script, *.sh, that ends with such a line itself. One that crashes, stops early or reports nothing counts as a failure and
# is named. --skip-slow leaves out doctest's suite "slow" of the binaries behind it; --parts runs the cases of each binary in
# N processes, so that the longest does not end alone on one core.
# Exit code 0: at least one test ran, and none failed.
set -uo pipefail

filter=() parts=1
if [ "${1:-}" = --parts ]; then parts=$2; shift 2; fi

set -m  # each program in a process group of its own, where Ctrl-C is not ignored as in the background
logs=$(mktemp -d)
programs=() cases=() pids=() shown=0  # cases: how many a part has
trap 'for pid in "${pids[@]:$shown}"; do kill -- -"$pid" 2>/dev/null; done; rm -rf "$logs"' EXIT
trap 'exit 130' INT TERM
passed=0 failed=0 skipped=0 broken=()

show() {  # show NUMBER: prints the output of that program and adds up its tests
  local program=${programs[$1]} part=${cases[$1]} log=$logs/$1 code=0 counts p f s
  wait "${pids[$1]}" || code=$?
  echo "== $program: $(cat "$log.seconds" 2>/dev/null || echo "?") s"
  grep -v '^\[doctest\] \(doctest version\|run with\)' "$log"
  # "[doctest] test cases: 3 | 1 passed | 2 failed | 0 skipped", or our own closing line, becomes "1 2 0".
  counts=$(sed -nE -e 's/^\[doctest\] test cases: .*\| *([0-9]+) passed \| *([0-9]+) failed \| *([0-9]+) skipped$/\1 \2 \3/p' \
                   -e 's/^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?$/\1 \2 0\4/p' "$log" | tail -n 1)
  read -r p f s <<<"${counts:-0 0 0}"
  if [ -n "$part" ] && [ -n "$counts" ]; then
    p=$((part - f))  # doctest counts the cases of the other parts as passed, and in each part all that are skipped
    [[ $program == *" --first=1 "* ]] || s=0
  fi
  if [ -z "$counts" ]; then
    broken+=("$program stopped with exit code $code before its summary")
    f=1
  elif [ $((p + f)) = 0 ] && ! grep -qE '^0 passed, 0 failed, [1-9][0-9]* skipped$' "$log"; then  # a script says what it lacks
    broken+=("$program ran no test")
    f=1
  elif [ "$code" -gt 128 ]; then
    broken+=("$program crashed with signal $((code - 128))")
    [ "$f" -gt 0 ] || f=1
  elif [ "$f" -gt 0 ]; then
    broken+=("$program: $f failed")
  elif [ "$code" != 0 ]; then
    broken+=("$program ended with exit code $code after its tests")
    f=1
  fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + 10#$s))
}

show_ended() {
  while [ $shown -lt ${#pids[@]} ] && ! kill -0 "${pids[shown]}" 2>/dev/null; do
    show $shown
    shown=$((shown + 1))
  done
}

timed() {  # timed LOG PROGRAM ARGUMENT...: LOG.seconds says for how long it ran
  local log=$1 began=$SECONDS code=0
  shift
  "$@" </dev/null >"$log" 2>&1 || code=$?
  echo $((SECONDS - began)) >"$log.seconds"
  exit $code
}

start() {  # start NUMBER-OF-CASES PROGRAM ARGUMENT...: as soon as fewer than two are running
  while [ "$(jobs -pr | wc -l)" -ge 2 ]; do wait -n; done
  show_ended
  cases+=("$1")
  shift
  programs+=("$*")
  timed "$logs/${#pids[@]}" "$@" &
  pids+=($!)
}

for program in "$@"; do
  count=0
  case $program in
    --skip-slow) filter=(--test-suite-exclude=slow); continue ;;
    *.sh) start "" "$program"; continue ;;
  esac
  if [ "$parts" -gt 1 ]; then
    count=$("$program" "${filter[@]}" --count 2>/dev/null | sed -n 's/.* passing the current filters: //p')
  fi
  if [ "${count:-0}" -lt "$parts" ] || [ "$parts" = 1 ]; then
    start "" "$program" "${filter[@]}"
    continue
  fi
  for part in $(seq "$parts"); do
    first=$((count * (part - 1) / parts + 1)) last=$((count * part / parts))
    start $((last - first + 1)) "$program" "${filter[@]}" --first=$first --last=$last
  done
done
for number in "${!pids[@]}"; do
  [ "$number" -lt $shown ] || { show "$number"; shown=$((number + 1)); }
done

[ ${#broken[@]} = 0 ] || printf 'FAILED  %s\n' "${broken[@]}"
[ "$skipped" = 0 ] && tail= || tail=", $skipped skipped"
echo "$passed passed, $failed failed$tail"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
