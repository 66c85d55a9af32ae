#!/usr/bin/env bash
# An installed Lamina is enough to build a program: headers, library and pkg-config file, nothing of the clone.
set -uo pipefail
cd "$(dirname "$0")/.."
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR REAL SANITIZE

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0
check() {  # check TITLE COMMAND...
  local title=$1
  shift
  if "$@" >"$scratch/log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s: %s\n' "$title" "$*"
    cat "$scratch/log"
  fi
}
build_program() {  # build_program HEADERS LIBRARY, as a user would, in a folder of their own
  cp tests/install/program.cpp "$scratch"
  (cd "$scratch" && ${CXX:-g++} -std=c++20 program.cpp $(pkg-config --cflags "$1") $(pkg-config --libs "$2") -o program)
}
does_not_link() { ! build_program "$@" >"$scratch/link" 2>&1 && grep -q 'undefined reference to .*in_' "$scratch/link"; }
program_sums() { "$scratch/program" | grep -qx "the sum of $1-byte ones: 3"; }
program_prints_threads() { "$scratch/program" | grep -q '^lamina [0-9.]*, [0-9]* threads$'; }
staged_below() { [ -f "$1/opt/lamina/lib/liblamina.a" ] && grep -qx 'prefix=/opt/lamina' "$1/opt/lamina/lib/pkgconfig/lamina.pc"; }

export PKG_CONFIG_PATH=$scratch/prefix/lib/pkgconfig
check "make install" make -j2 install "PREFIX=$scratch/prefix"
check "the pkg-config file is valid" pkg-config --validate lamina
check "a program builds" build_program lamina lamina
check "the program runs" program_prints_threads
check "the program computes in float" program_sums 4
check "make install REAL=double under the same prefix" make -j2 install REAL=double "PREFIX=$scratch/prefix"
check "a program for double builds" build_program lamina-double lamina-double
check "the program computes in double" program_sums 8
check "a program for float still builds" build_program lamina lamina
check "the program computes in float still" program_sums 4
check "headers for float do not link with the double library" does_not_link lamina lamina-double
check "headers for double do not link with the float library" does_not_link lamina-double lamina
check "make install into a staging folder" make -j2 install PREFIX=/opt/lamina "DESTDIR=$scratch/stage"
check "DESTDIR does not leak into the pkg-config file" staged_below "$scratch/stage"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
