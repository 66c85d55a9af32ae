#!/usr/bin/env bash
# Every flag of every command, with values that make no sense (nonsense_flags.py); and flags that make none together.
# --all: all values for every flag.
cd "$(dirname "$0")/../../.." || exit 1
make --no-print-directory -s build/lamina >/dev/null 2>&1 || make -s build/lamina || exit 1
exec tests/tools/flags/nonsense_flags.py build/lamina "$@"
