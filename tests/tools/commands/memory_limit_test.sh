#!/usr/bin/env bash
# lamina where there is little memory: it succeeds, or fails with one line. --all: 300 to 700 MB in steps of 10 MB, with
# two batch sizes, instead of a few.
step=100 batches=512
[ "${1:-}" = --all ] && step=10 batches="128 512"
source "$(dirname "$0")/../checks.sh"
export LAMINA_SMOKE=1

ends_well_or_says_why() {  # ends_well_or_says_why MEGABYTES BATCH
  local status=0
  timeout -k 1 60 prlimit --as=$(($1 * 1000000)) "$lamina" mnist --preset small --norm layer --batch "$2" --threads 4 \
    --out "out-$1-$2" >out 2>err || status=$?
  [ $status = 0 ] && [ ! -s err ] && return
  [ $status = 1 ] && [ "$(wc -l <err)" = 1 ] && grep -qE "^lamina: (not enough memory|cannot start .* threads)" err && return
  echo "  exit code $status with $1 MB and batch $2: $(cat err)"
  return 1
}

for megabytes in $(seq 300 $step 700); do
  for batch in $batches; do
    check "$megabytes MB of memory, batch $batch" ends_well_or_says_why "$megabytes" "$batch"
  done
done
finish
