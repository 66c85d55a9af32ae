#!/usr/bin/env bash
# What `make demo` is about to do, and how long each part takes: printed before any of it begins.
#
#   tools/demo-plan.sh ARGUMENT...    those of make, which builds the program
set -euo pipefail
cd "$(dirname "$0")/.."

seconds_a_file=2  # of one core, the mean of a sample on an AMD EPYC (Zen 5), rounded up
cores=$(nproc)
files=$(env -u MAKEFLAGS make -n COUNTING=1 "$@" 2>/dev/null | grep -c "^echo '\[" || true)

echo "make demo does three things:"
missing=$(tools/install-deps.sh --missing 2>/dev/null || true)
if [ -n "$missing" ]; then
  echo "1. installs these Debian packages, and says how large they are: $missing"
else
  echo "1. packages: all are installed"
fi
if [ "$files" -gt 0 ]; then
  minutes=$(((files * seconds_a_file / cores + 59) / 60))
  echo "2. compiles $files files: about $minutes minute$([ "$minutes" = 1 ] || echo s) on $cores core$([ "$cores" = 1 ] || echo s)"
else
  echo "2. compiling: all is built"
fi
echo "3. trains six small models: one to two minutes on two cores"
