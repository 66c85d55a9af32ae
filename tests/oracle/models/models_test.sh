#!/usr/bin/env bash
# The experiments' losses and metrics, computed again with numpy from the weights that they have saved; without numpy
# skipped.
source "$(dirname "$0")/../../tools/checks.sh"
export PYTHONDONTWRITEBYTECODE=1
models=${lamina%/build/lamina}/tests/oracle/models/models.py
check "an experiment that is none is refused" eval '! "$models" "$lamina" none 2>/dev/null'
"$models" "$lamina" >out || true
grep -v "passed" out
read -r p f s <<<"$(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?$/\1 \2 0\4/p' out)"
check "all experiments come to their end" [ -n "${p:-}" ]
passed=$((passed + ${p:-0})) failed=$((failed + ${f:-0})) skipped=$((skipped + 10#${s:-0}))
finish
