#!/usr/bin/env bash
# The course: programs, pages, exercises as handed out and as solved, every mistake that the judges know, slides.
#
#   tests/models/course/course_test.sh [LESSON...]    such as 01 06; all without
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL REAL SANITIZE ARCH LESSON LAMINA_THREADS
tools=$PWD/models/course/tools

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0 skipped=0
check() {  # check TITLE COMMAND...
  local title=$1
  shift
  if "$@" >"$scratch/log" 2>&1; then
    passed=$((passed + 1))
    return 0
  else
    failed=$((failed + 1))
    printf 'FAILED: %s: %s\n' "$title" "$*"
    cat "$scratch/log"
    return 1
  fi
}
skip() { echo "skipped: $1"; skipped=$((skipped + 1)); }
has_python() { command -v python3 >/dev/null; }

# --- The tools

exercise_variants() {
  printf '%s\n' 'a' '  // [ your code: twice' '  b' '  // | c' '  // ]' '  // mistake: no' '  // ~ d' 'e' '// [' 'f' '// | g' '// ]' >"$scratch/x.cpp"
  diff <("$tools/make-exercises" handed "$scratch/x.cpp") <(printf '%s\n' 'a' '  // your code: twice' '  c' 'e' 'g') &&
    diff <("$tools/make-exercises" solved "$scratch/x.cpp") <(printf '%s\n' 'a' '  b' 'e' 'f') &&
    diff <("$tools/make-exercises" mistakes "$scratch/x.cpp") <(echo no) &&
    diff <("$tools/make-exercises" mistake 1 "$scratch/x.cpp") <(printf '%s\n' 'a' '  d' 'e' 'f') &&
    ! "$tools/make-exercises" mistake 2 "$scratch/x.cpp" 2>/dev/null
}
exercises_are_kept() {
  "$tools/make-exercises" into "$scratch/student" "$scratch/x.cpp" && echo mine >"$scratch/student/x.cpp" &&
    "$tools/make-exercises" into "$scratch/student" "$scratch/x.cpp" | grep 'kept as it is' &&
    [ "$(cat "$scratch/student/x.cpp")" = mine ]
}
broken_marks_are_refused() {
  local marks
  for marks in '// [' '// ]' '// | x' '// mistake: x' '// [\n// [\n// ]'; do
    printf "$marks\n" >"$scratch/broken.cpp"
    ! "$tools/make-exercises" handed "$scratch/broken.cpp" 2>/dev/null || { echo "accepted: $marks"; return 1; }
  done
}
page_with() {  # page_with LINE...: a page of these lines, compared with an output and a judge of one line each
  printf '%s\n' '# Lesson 1: a' "$@" '## Questions' '## Exercises' '```text judge' 'f: wrong' '```' '## Answers' '## For the teacher' >"$scratch/page.md"
  "$tools/check-page" "$scratch/page.md" "$scratch/output" "$scratch/judged"
}
pages_are_compared() {
  printf 'step 1: loss 0.500\nstep 2: loss 0.250 in 7 ms\nstep 3: loss 1.2e-05\n' >"$scratch/output"
  echo 'f: wrong' >"$scratch/judged"
  page_with 'It is `0.25`, then `about 0.3`.' '```text' 'step  1: loss 0.502' 'step 3: loss 1.3e-05' '```' &&
    page_with '```text time' 'step 2: loss 0.250 in 9 ms' '```' && page_with '```text about' 'step 1: loss 0.6' '```' &&
    ! page_with '```text' 'step 1: loss 0.503' '```' && ! page_with '```text' 'step 3: loss 1.2e-05' 'step 1: loss 0.500' '```' &&
    ! page_with '```text' 'step 1: gain 0.500' '```' && ! page_with '```text' 'step 9: loss 0.500' '```' &&
    ! page_with 'It is `0.253`.' && ! page_with 'It is `about 0.35`.' && ! page_with '![x](missing.svg)' &&
    ! page_with '```text judge' 'f: wrong' '```' && echo 'f: right' >"$scratch/judged" && ! page_with
}
crashes_are_named() {
  cat >"$scratch/crash.cpp" <<EOF
#include "$PWD/models/course/judge.h"
int main() {
  course::exercise("a", []() -> std::string { std::abort(); });
  course::exercise("b", [] { for (volatile int i = 0;; i = 0) {} return std::string(); });
  course::exercise("c", []() -> std::string { throw std::invalid_argument("no"); });
  course::exercise("d", [] { return std::string(); });
  course::exercise("e", [] { return course::compare("x", {1}, {NAN}); });  // of a student's function
  return course::verdict();
}
EOF
  ${CXX:-g++} -std=c++20 "$scratch/crash.cpp" -o "$scratch/crash" || return
  (ulimit -S -c 0 -t 1 && "$scratch/crash") >"$scratch/said"
  diff <(cut -c1-20 "$scratch/said") <(printf '%s\n' 'a: your code crashes' 'b: your code does no' 'c: no' 'd: right' 'e: your x is 1; it m' '1 passed, 4 failed')
}
lessons_are_listed() { make -s course >"$scratch/listed" && [ "$(grep -c '^Lesson [0-9]*: ' "$scratch/listed")" = "$(find models/course -name 'lesson-*' | wc -l)" ]; }
unknown_lesson_is_named() { ! make -s course LESSON=77 2>"$scratch/said" && grep 'LESSON=77: give one of' "$scratch/said"; }

check "exercises, solutions and mistakes from one file" exercise_variants
check "a student's file is never overwritten" exercises_are_kept
check "broken marks are refused" broken_marks_are_refused
if has_python; then check "pages are compared with what is printed" pages_are_compared; else skip "check-page: there is no python3"; fi
check "a judge goes on after a crash and an endless loop" crashes_are_named
check "make course lists the lessons" lessons_are_listed
check "make course names an unknown lesson" unknown_lesson_is_named

# --- The lessons

check "the library" make -s REAL=double course-library
compile=$(make -s REAL=double course-compile) link=$(make -s REAL=double course-link)
# Exercises, judges and above all mistakes are many and small: they are not optimized much, and read <lamina.h> once, where
# they include it anyway. (g++ finds what is precompiled by -include alone when exercises.h comes first.) Of the time to
# link, other linkers than the usual one need a third.
plain="$(make -s REAL=double COURSE_LEVEL=-O1 course-compile) -Werror" precompiled="-include build/course/precompiled/lamina.h"
check "the precompiled header" make -s REAL=double COURSE_LEVEL=-O1 build/course/precompiled/lamina.h.gch
linker=
for name in lld gold; do ! command -v "ld.$name" >/dev/null || linker=-fuse-ld=$name; done

permitted_includes() { ! grep -hE '^ *# *include' "$@" | grep -vE '<(lamina\.h|lamina/train\.h|lamina/extend\.h|[a-z_]+)>|"(exercises|\.\./judge)\.h"'; }
exercises_are_included() { ! grep -Lx '#include "exercises.h"' "$@" | grep .; }
fewer_lines() { [ "$(wc -l <"$1")" -lt "$2" ]; }
program_builds() {
  local TIMEFORMAT=%U
  { time $compile -Wpedantic -Wshadow -Wconversion -Werror "$1/lesson.cpp" $link -o "$work/lesson"; } 2>"$work/said" || { cat "$work/said"; return 1; }
  seconds=$(tail -n 1 "$work/said")
}
program_runs() { (cd "$work/run" && timeout 600 ../lesson </dev/null) >"$work/output"; }
page_holds() { "$tools/check-page" "$1/README.md" "$work/output" "$work/handed.said"; }
# Coordinates and colors may differ between CPUs, words and sizes may not.
words_of() { sed 's/-\?[0-9.]\+//g' "$1" | tr -d ' \n'; }
figure_is_drawn() {
  local drawn
  drawn=$work/run/$(basename "$1")
  if [[ $1 == *.png ]]; then cmp -n 24 "$1" "$drawn"; else diff <(words_of "$1") <(words_of "$drawn"); fi  # of a PNG the size
}

object() { "${@:3}" -I"$lesson" -c "$1" -o "$2"; }  # object SOURCE OBJECT COMPILER...
build_variants() {  # handed out, solved, and every mistake of every exercise
  local file name number small=$plain
  ! grep -qx '#include <lamina.h>' "$lesson/exercises.h" || small+=" $precompiled"
  for file in "$lesson"/solutions/*.cpp; do
    name=$(basename "$file" .cpp)
    "$tools/make-exercises" handed "$file" >"$work/handed/$name.cpp" && object "$work/handed/$name.cpp" "$work/handed/$name.o" $small || return
    "$tools/make-exercises" solved "$file" >"$work/solved/$name.cpp" && object "$work/solved/$name.cpp" "$work/solved/$name.o" $small || return
    "$tools/make-exercises" mistakes "$file" >"$work/mistakes/$name.list" || return
    for number in $(seq "$(wc -l <"$work/mistakes/$name.list")"); do
      "$tools/make-exercises" mistake "$number" "$file" >"$work/mistakes/$name.$number.cpp" &&
        object "$work/mistakes/$name.$number.cpp" "$work/mistakes/$name.$number.o" $plain $precompiled || return
    done
  done
  object "$lesson/judge.cpp" "$work/judge.o" $small
}
judges() {  # judges RUN OBJECT...: says RUN.said and exits with the judge's exit code
  local run=$1
  shift
  $plain "$work/judge.o" "$@" $link $linker -o "$work/$run" || return 3
  (cd "$work" && timeout 120 "./$run" </dev/null) >"$work/$run.said" 2>&1
}
handed_out_fails() {
  judges handed.run "$work"/handed/*.o
  [ $? = 1 ] && cp "$work/handed.run.said" "$work/handed.said" && grep -x '0 passed, [1-9][0-9]* failed' "$work/handed.said" ||
    { cat "$work/handed.run.said"; return 1; }
}
solutions_pass() { judges solved.run "$work"/solved/*.o && grep -x '[1-9][0-9]* passed, 0 failed' "$work/solved.run.said" || { cat "$work/solved.run.said"; return 1; }; }
exercise_is_judged() {  # exercise_is_judged EXERCISE: as handed out among solved ones
  judges mistaken.run "$work/handed/$1.o" $(ls "$work"/solved/*.o | grep -v "/$1\.o$")
  [ $? = 1 ]
}
mistake_is_named() {  # mistake_is_named EXERCISE NUMBER MESSAGE
  judges mistaken.run "$work/mistakes/$1.$2.o" $(ls "$work"/solved/*.o | grep -v "/$1\.o$")
  [ $? = 1 ] && grep -F ": $3" "$work/mistaken.run.said" || { cat "$work/mistaken.run.said"; return 1; }
}

contents_name() {  # contents_name LESSON NUMBER: the course's page links to it by its title
  local title
  title=$(sed -n '1s/^# Lesson [0-9]*: //p' "$1/README.md")
  [ -n "$title" ] && grep -F "| [$title](lesson-$2/README.md) |" models/course/README.md
}

shopt -s nullglob
for lesson in models/course/lesson-*/; do
  lesson=${lesson%/} number=${lesson#models/course/lesson-}
  [ $# = 0 ] || [[ " $* " == *" $number "* ]] || continue
  work=$scratch/$number
  mkdir -p "$work"/{run,handed,solved,mistakes}
  check "lesson $number is in the contents" contents_name "$lesson" "$number"
  check "lesson $number includes what is installed" permitted_includes "$lesson"/{lesson.cpp,exercises.h,judge.cpp} "$lesson"/solutions/*.cpp
  check "lesson $number: judge and solutions include exercises.h" exercises_are_included "$lesson/judge.cpp" "$lesson"/solutions/*.cpp
  check "lesson $number: the program has less than 150 lines" fewer_lines "$lesson/lesson.cpp" 150
  check "lesson $number: the program builds" program_builds "$lesson"
  echo "lesson $number compiles in ${seconds:-no} s of a core"
  check "lesson $number: the program runs" program_runs
  check "lesson $number: the exercises build" build_variants || continue
  check "lesson $number: as handed out, the judge fails every exercise" handed_out_fails
  check "lesson $number: solved, the judge passes" solutions_pass
  if has_python; then check "lesson $number: the page" page_holds "$lesson"; else skip "the page of lesson $number: there is no python3"; fi
  for list in "$work"/mistakes/*.list; do
    count=0 name=$(basename "$list" .list)
    [ -s "$list" ] || check "lesson $number: the judge looks at $name" exercise_is_judged "$name"
    while IFS= read -r message; do
      count=$((count + 1))
      check "lesson $number: the judge names the mistake" mistake_is_named "$name" $count "$message"
    done <"$list"
  done
  for figure in "$lesson"/figures/*; do
    [ ! -e "$figure" ] || check "lesson $number draws its figure" figure_is_drawn "$figure"
  done
done

# --- A student's session, and slides

first=$(find models/course -name 'lesson-*' | sort | head -n 1 | sed 's/.*lesson-0*//')
session() { make -s course LESSON="$first" COURSE_FOLDER="$scratch/course" COURSE_LEVEL=-O1 >"$scratch/session" && grep '^0 passed, [1-9][0-9]* failed$' "$scratch/session"; }
slides_stand_alone() {
  local lesson slides
  make -s slides || return
  for lesson in models/course/lesson-*/; do
    slides=build/course/slides/$(basename "$lesson").html
    grep -q '<math' "$slides" && ! grep -nE '(src|href)="?https?:|For the teacher' "$slides" || { echo "$slides"; return 1; }
  done
}
check "make course LESSON=$first builds, runs and judges" session
if command -v pandoc >/dev/null; then check "slides need no network" slides_stand_alone; else skip "slides: there is no pandoc"; fi

[ "$skipped" = 0 ] && tail= || tail=", $skipped skipped"
echo "$passed passed, $failed failed$tail"
[ "$failed" = 0 ]
