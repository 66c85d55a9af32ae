#!/usr/bin/env bash
# Settings that the Makefile does not know are refused: they would be taken for others. Own flags of the compiler add to its.
# A tree goes on as it was begun, in groups of sources or one by one.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL REAL MPI SANITIZE INSTALLED CXXFLAGS
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

# -g, and the warning that is an error no more.
adds_own_flags() { make -n V=1 BUILD=/tmp/none "$@" /tmp/none/objects/core/version.o | grep -q -- '-std=c++20 .* -Werror .*-g -Wno-error -O3 .* -c core/version.cpp'; }
check "CXXFLAGS of the command line add to those of the Makefile" adds_own_flags "CXXFLAGS=-g -Wno-error"
CXXFLAGS='-g -Wno-error' check "and so do those of the environment" adds_own_flags

# A copy of what make reads, in which nothing is built, and then something is: by groups, or each source alone.
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cp --parents Makefile models/course/course.mk core/version.h tools/lamina.cpp tools/*.mk tools/*.sh "$tree"
groups_are() {  # groups_are VALUE: of TOGETHER and PRECOMPILED in this tree, where nobody sets them
  printf 'print:\n\t@echo "$(TOGETHER),$(PRECOMPILED)"\n' |
    env -u TOGETHER -u PRECOMPILED make -s -C "$tree" -f Makefile -f - print 2>/dev/null | grep -x "$1,$1" >/dev/null
}
demo_makes() {  # demo_makes TARGET-AND-SETTINGS: the line of a dry run, which ends there, since the sources are not here
  grep -qx "make .* $1" <<<"$(env -u TOGETHER -u PRECOMPILED make -C "$tree" -n demo 2>/dev/null)"
}
check "a plain make compiles each source alone" groups_are ""
check "make demo begins a tree in groups" demo_makes "build/lamina PRECOMPILED=1 TOGETHER=1"
rm -rf "$tree/build" && mkdir -p "$tree/build/together" && touch "$tree/build/together/groups.mk"
check "where make goes on in groups" groups_are 1
rm -rf "$tree/build" && mkdir "$tree/build" && touch "$tree/build/sources"
check "make demo goes on with a tree that was begun otherwise" demo_makes "build/lamina *"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
