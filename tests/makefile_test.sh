#!/usr/bin/env bash
# Settings that the Makefile does not know are refused: they would be taken for others.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL REAL MPI
passed=0 failed=0
check() {  # check TITLE COMMAND...
  local title=$1
  shift
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $title"; fi
}
refuses() { local said; ! said=$(make help "$1" 2>&1) && [[ $said == *"*** $1: it is "* ]]; }
takes() { make help "$@" >/dev/null; }

for setting in REAL=Double REAL=64 MPI=yes MPI=2; do check "$setting is refused" refuses $setting; done
for setting in REAL=float REAL=double MPI=0 MPI=1; do check "$setting is taken" takes $setting; done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
