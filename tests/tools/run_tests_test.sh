#!/usr/bin/env bash
# tools/run-tests.sh must notice a program that fails, crashes, stops early or runs nothing.
set -uo pipefail
cd "$(dirname "$0")/../.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

program() {  # program NAME BODY: makes a fake test program
  printf '#!/usr/bin/env bash\n%s\n' "$2" >"$scratch/$1"
  chmod +x "$scratch/$1"
}
expect() {  # expect TITLE EXIT-CODE CLOSING-LINE NAMED-PROGRAM PROGRAM...: or an option
  local title=$1 code=$2 closing=$3 named=$4 output actual programs=() program
  shift 4
  for program in "$@"; do
    if [[ $program == --* ]]; then programs+=("$program"); else programs+=("$scratch/$program"); fi
  done
  # This test may itself be in the background, where a shell makes it ignore Ctrl-C permanently.
  output=$(env --default-signal=INT tools/run-tests.sh $options "${programs[@]}" 2>&1)
  actual=$?
  if [ "$actual" = "$code" ] && [ "$(tail -n 1 <<<"$output")" = "$closing" ] &&
     { [ -z "$named" ] || grep -q "^FAILED  .*/$named" <<<"$output"; }; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s: exit code %s\n%s\n' "$title" "$actual" "$output"
  fi
}

options=
program good 'echo "[doctest] test cases:  9 |  8 passed | 0 failed | 1 skipped"'
program script 'echo "2 passed, 0 failed"'
program bad 'echo "[doctest] test cases: 3 | 1 passed | 2 failed | 0 skipped"; exit 1'
program crash 'kill -SEGV $$'
program late_crash 'echo "[doctest] test cases: 3 | 3 passed | 0 failed | 0 skipped"; kill -SEGV $$'
program late_exit 'echo "[doctest] test cases: 3 | 3 passed | 0 failed | 0 skipped"; exit 7'
program early 'echo "half a test"; exit 0'
program empty 'echo "[doctest] test cases: 0 | 0 passed | 0 failed | 4 skipped"'

program cases 'case "$*" in
--count) echo "[doctest] unskipped test cases passing the current filters: 7" ;;
"--first=1 --last=3") echo "[doctest] test cases: 7 | 7 passed | 0 failed | 2 skipped" ;;
"--first=4 --last=7") echo "[doctest] test cases: 7 | 6 passed | 1 failed | 2 skipped"; exit 1 ;;
*) echo "[doctest] test cases: 7 | 6 passed | 1 failed | 2 skipped"; exit 1 ;;
esac'

program with_slow 'case "$*" in
--test-suite-exclude=slow) echo "[doctest] test cases: 7 | 5 passed | 0 failed | 2 skipped" ;;
*) echo "[doctest] test cases: 7 | 7 passed | 0 failed | 0 skipped" ;;
esac'
program lacks_a_tool 'echo "0 passed, 0 failed, 7 skipped"'
program any.sh 'echo "$(($# == 0 ? 1 : 0)) passed, $# failed"'

program ping "touch '$scratch/ping.here'; for _ in \$(seq 100); do [ -e '$scratch/pong.here' ] && echo '1 passed, 0 failed' && exit; sleep 0.1; done"
program pong "touch '$scratch/pong.here'; for _ in \$(seq 100); do [ -e '$scratch/ping.here' ] && echo '1 passed, 0 failed' && exit; sleep 0.1; done"
program interrupted 'trap "echo 1 passed, 0 failed; exit" INT; kill -INT $$; exit 1'

expect "sums passed and skipped" 0 "10 passed, 0 failed, 1 skipped" "" good script
expect "counts failures" 1 "11 passed, 2 failed, 1 skipped" bad good script bad
expect "names a crash" 1 "8 passed, 1 failed, 1 skipped" crash crash good
expect "notices a crash after the summary" 1 "3 passed, 1 failed" late_crash late_crash
expect "notices an exit code after the summary" 1 "3 passed, 1 failed" late_exit late_exit
expect "notices a program that stops early" 1 "0 passed, 1 failed" early early
expect "notices a program without tests" 1 "0 passed, 1 failed, 4 skipped" empty empty
expect "counts what a script skips as a whole, for want of a tool" 0 "2 passed, 0 failed, 7 skipped" "" lacks_a_tool script
expect "notices a program that is not there" 1 "0 passed, 1 failed" absent absent
expect "runs two side by side" 0 "2 passed, 0 failed" "" ping pong
expect "leaves Ctrl-C to the program" 0 "1 passed, 0 failed" "" interrupted
expect "leaves slow cases out behind --skip-slow alone, and tells scripts nothing" 0 "13 passed, 0 failed, 2 skipped" "" with_slow --skip-slow with_slow any.sh
expect "fails without programs" 1 "0 passed, 0 failed" ""

options="--parts 2"
expect "counts the cases of parts once, and names the part that failed" 1 "6 passed, 1 failed, 2 skipped" "cases --first=4 --last=7" cases
expect "runs what has fewer cases than parts, or no count, as a whole" 0 "8 passed, 0 failed, 1 skipped" "" good

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
