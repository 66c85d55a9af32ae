#!/usr/bin/env bash
# The benchmarks that print a table by themselves: each comes to its second row.
source "$(dirname "$0")/../checks.sh"
top=$(dirname "$(dirname "$lamina")")
programs=(bench_attention bench_convnet bench_recurrent)
for program in "${programs[@]}"; do
  (cd "$top" && built "build/$program") || exit 1
  timeout 100 "$top/build/$program" --seconds 0.001 2>err | grep -m 4 '^|' >rows  # which ends the program
  check "$program: titles, rule and two rows" [ "$(wc -l <rows)" = 4 ]
  check "  and no complaint" [ ! -s err ]
done
check "batch norm has no training step of a single image" grep -qE '^\| 1 \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| - \| [0-9.]+ \|$' \
  <(timeout 100 "$top/build/bench_convnet" --seconds 0.001 | grep -m 3 '^|')
finish
