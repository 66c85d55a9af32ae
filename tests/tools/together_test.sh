#!/usr/bin/env bash
# tools/together.sh must keep apart what cannot be compiled as one, and compile it one by one where it did not see that.
set -uo pipefail
cd "$(dirname "$0")/../.."
unset MAKEFLAGS MFLAGS MAKELEVEL
together=$PWD/tools/together.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
passed=0 failed=0
check() {  # check TITLE COMMAND...
  if "${@:2}" >log 2>&1; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $1"; cat log; fi
}
groups_are() {  # groups_are SIZE GROUP...: of the sources that the groups name, in this order
  diff <("$together" groups "$1" $(tr ' ' '\n' <<<"${@:2}" | sort)) <(printf '%s\n' "${@:2}")
}
compiles() { "$together" compile "$1.o" ${CXX:-g++} -std=c++20 -Wall -Wshadow -Werror -I. -- "${@:2}" >said 2>&1; }
says() { grep "$1" said >/dev/null || { cat said; false; }; }

printf 'namespace {\nint size() { return 1; }\n}\nint a() { return size(); }\n' >a.cpp
printf 'namespace {\nint size() { return 2; }\n}\nint b() { return size(); }\n' >b.cpp
printf 'constexpr int first = 1, rows = 2;\nint c() { return first + rows; }\n' >c.cpp
printf 'int d(int rows) { return rows; }\n' >d.cpp
printf '#include "of_e.h"\nusing namespace of_e;\nint e() { return number(); }\n' >e.cpp
printf 'namespace of_e {\ninline int number() { return 3; }\n}\n' >of_e.h
printf 'struct Wide { int size; };\nint f() { return Wide{4}.size; } // rows\n' >f.cpp
printf 'using Words = const char*;\nWords g(Words x) { return x; }\n' >i.cpp
printf 'int j() {\n  using Words = int;\n  return Words(5);\n}\n' >j.cpp

check "sources without a common name are one group" groups_are 9 "a.cpp c.cpp f.cpp"
check "as many as the size allows" groups_are 2 "a.cpp c.cpp" "f.cpp"
check "the same function twice is in two groups" groups_are 9 "a.cpp c.cpp" "b.cpp"
check "and a constant and a variable of its name" groups_are 9 "c.cpp f.cpp" "d.cpp"
check "and what uses another namespace" groups_are 9 "a.cpp f.cpp" "e.cpp"
check "and an alias and another of its name in a function" groups_are 9 "i.cpp" "j.cpp"
check "no source makes no group" [ -z "$("$together" groups 9 </dev/null)" ]

printf 'int a(), b(), f();\nint main() { return a() + b() + f() == 7 ? 0 : 1; }\n' >main.cpp
compiles f f.cpp
links_and_runs() { ${CXX:-g++} main.cpp "$@" -o main && ./main; }
compiled_at_once() { compiles "$@" && [ ! -s "$1.o.log" ]; }
check "a group is compiled" compiled_at_once af a.cpp f.cpp
check "a group that does not compile is compiled one by one" compiles ab a.cpp b.cpp
check "which is said" says 'one by one.*ab.o.log.*: a.cpp b.cpp'
check "to an object that is the same" links_and_runs ab.o f.o
check "its headers are listed" compiles e e.cpp d.cpp
check "as what makes it again" grep -x 'e.o:.* of_e.h.*' <(tr -d '\\\n' <e.d | sed 's/of_e.h:$//')
compiles alone a.cpp
check "a source that is removed later stops no make" grep -x 'a.cpp:' alone.d
check "nor one of several" grep -x 'd.cpp:' e.d
echo 'int g() { return nothing; }' >g.cpp
does_not_compile() { ! compiles "$@"; }
check "an error is said of the source that has it" does_not_compile ag a.cpp g.cpp
check "by its name" says "^g.cpp:1:.*error: "
printf 'int h(int x) { int unused; return x; }\n' >h.cpp
check "a warning is an error as well" does_not_compile ah a.cpp h.cpp

# Headers that a group depends on are no reason for make to compile anything.
mkdir -p build/together/tests && touch -d 2020-01-01 build/together/tests/1.d
nothing_is_compiled() { make -s -C "${together%/tools/*}" BUILD="$scratch/build" TOGETHER=1 help && [ ! -e build/flags ] && [ ! -s build/together/tests/1.d ]; }
check "make reads headers of groups, and makes none" nothing_is_compiled

# What a new source does not touch is not compiled again: its group's list of sources is as old as it was.
lists_are_made() {  # lists_are_made SOURCE...: of a set of tests that has these alone
  rm -f build/together/groups.mk && make -s -C "${together%/tools/*}" BUILD="$scratch/build" TOGETHER=1 SET_tests="$*" help >/dev/null
}
only_its_group_is_new() {
  lists_are_made tests/core/tape_test.cpp && find build/together -name '*.sources' -exec touch -d 2020-01-01 {} + &&
    lists_are_made tests/core/tape_test.cpp tests/layers/linear_test.cpp &&
    [ "$(find build/together -name '*.sources' -newermt 2021-01-01)" = build/together/tests/1.sources ] &&
    [ "$(cat build/together/tests/1.sources)" = "tests/core/tape_test.cpp tests/layers/linear_test.cpp" ]
}
check "a new source changes the list of its group alone" only_its_group_is_new
a_group_is_made_of_sources() {
  make -n -C "${together%/tools/*}" BUILD="$scratch/build" TOGETHER=1 V=1 "$scratch/build/together/tests/1.o" >made 2>&1 &&
    grep -q -- '-- tests/core/tape_test.cpp tests/layers/linear_test.cpp$' made && ! grep 'sources\.o' made
}
check "which make does not take for a program" a_group_is_made_of_sources

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
