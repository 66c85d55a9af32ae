#!/usr/bin/env bash
# A sample of every class of faults, in seconds; `make faults` tries all of them.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
make --no-print-directory -s build/lamina fault-library >/dev/null 2>&1 || make -s build/lamina fault-library || exit 1
tests/faults/faults.py --classes damage
