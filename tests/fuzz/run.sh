#!/usr/bin/env bash
# Fuzzes every target, or the one that is named, for the given number of seconds each, and prints a table of the
# results.
#
#   tests/fuzz/run.sh BUILD SECONDS [TARGET]
#
# BUILD holds the program `fuzz`; seeds, dictionaries, corpora that grow from run to run, logs, and the inputs that led
# to a report are written there too. A target passes when no input did: no error of the sanitizers, no stray exception,
# no input that takes more than a second or 200 MB beyond its size.
set -euo pipefail
build=$1 seconds=$2 only=${3:-}
here=$(dirname "$0")
# Freed memory is kept for a while, to find uses after free: this much does not count against the readers.
kept_mb=32 own_mb=100
export ASAN_OPTIONS=quarantine_size_mb=$kept_mb UBSAN_OPTIONS=print_stacktrace=1

"$here/make_seeds.py" "$build/seeds"
mkdir -p "$build/corpus" "$build/logs" "$build/reports"
passed=0 failed=0 all=0
printf '%-12s %12s %10s %8s  %s\n' target runs 'runs/s' 'peak MB' result
while read -r target longest; do
  [ -z "$only" ] || [ "$target" = "$only" ] || continue
  mkdir -p "$build/corpus/$target"
  log=$build/logs/$target result=passed
  inputs=("$build/corpus/$target" "$build/seeds/$target")
  [ ! -d "$here/found/$target" ] || inputs+=("$here/found/$target")
  LAMINA_FUZZ=$target "$build/fuzz" -max_total_time="$seconds" -max_len="$longest" -timeout=1 -malloc_limit_mb=200 \
    -rss_limit_mb=$((200 + kept_mb + own_mb)) -dict="$build/seeds/$target.dict" -print_final_stats=1 \
    -artifact_prefix="$build/reports/$target-" "${inputs[@]}" </dev/null >"$log" 2>&1 || result="FAILED, see $log"
  stat() { sed -n "s/^stat::$1: *//p" "$log" | tail -n 1; }
  runs=$(stat number_of_executed_units)
  printf '%-12s %12d %10d %8d  %s\n' "$target" "${runs:-0}" "$((${runs:-0} / seconds))" "$(stat peak_rss_mb)" "$result"
  all=$((all + ${runs:-0}))
  if [ "$result" = passed ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done < <("$build/fuzz" --list)
echo "$all runs"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
