#!/usr/bin/env bash
# tools/compare-release in small repositories, where a script stands in for bench_steps.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL
tools=$PWD/tools

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_CEILING_DIRECTORIES=$scratch
passed=0 failed=0
check() {  # check TITLE COMMAND...
  local title=$1
  shift
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $title"; sed 's/^/  | /' said 2>/dev/null; fi
}
compares() {  # compares CODE ARGUMENT...: what it says is in `said`
  local code=$1 status=0
  shift
  tools/compare-release "$@" >said 2>&1 || status=$?
  [ "$status" = "$code" ]
}
says() { grep -qE -- "$1" said; }
commit() {  # commit DATE MESSAGE [TIME]: all that is there
  git add -A
  GIT_COMMITTER_DATE="$1T${3:-12:00:00}Z" git -c user.name=a -c user.email=a@example.org commit -q -m "$2"
}

# A step of core/speed.h's milliseconds; without that file, the build fails.
mkdir -p tools core
cp "$tools"/{compare-release,compare-builds,bench_turns.py} tools
printf '/build/\n' >.gitignore
printf 'said\n__pycache__/\n' >>.gitignore
cat >Makefile <<'END'
build/bench_steps: core/speed.h step.py
	mkdir -p build && sed "s/SPEED/$$(cat core/speed.h)/g" step.py >$@ && chmod +x $@
END
cat >step.py <<'END'
#!/usr/bin/env python3
import sys
if "--list" in sys.argv:
    for case in "mnist_mlp_b128", "lstm", "transformer_small", "gru":
        print('{"case":"%s","beside_pytorch":["none","ln"],"alone":[]}' % case)
else:
    for line in sys.stdin: print(SPEED, flush=True)
END
echo 2 >core/speed.h

check "outside a repository: nothing to compare" compares 0
check "and the reason" says '^nothing to compare: this is no clone of a repository$'
git init -q .
commit 2026-01-01 "First"
check "a single commit: nothing to compare" compares 0
check "and the reason" says '^nothing to compare: this clone has neither a tag nor a commit that is a day older'
echo 3 >core/speed.h
commit 2026-01-03 "Second"
commit_of() { git rev-parse --short=10 "$1"; }
check "against the newest commit that is a day older" compares 0
check "which it names" says "^OLD is $(commit_of HEAD~1) of "
for case in mnist_mlp_b128 lstm transformer_small; do
  check "a row of $case" says "^\| $case \| ln \| 2.00 \| 3.00 \| 1.500 \| 1.500 to 1.500 \| [0-9.]+ \| [0-9.]+ \|$"
done
check "and of no other case" [ "$(grep -c '^| [a-z_0-9]* | ln ' said)" = 3 ]
echo 4 >core/speed.h
check "a change that is not committed counts" compares 0
old=build/release/$(commit_of HEAD~1)/build/bench_steps
touch -d 2038-01-10 "$old"
check "a second time" compares 0
check "the older one is not built again" [ "$(date -r "$old" +%F)" = 2038-01-10 ]
check "and the change counts as slower" says '^\| lstm \| ln \| 2.00 \| 4.00 \| 2.000 '
check "a commit of the command line" compares 0 HEAD
check "is taken instead" says '^\| lstm \| ln \| 3.00 \| 4.00 \| 1.333 '
git checkout -q core/speed.h
git tag v1
check "against the last tag" compares 0
check "without a change of the library there is nothing to compare" says "^nothing to compare: neither library nor flags have changed since $(commit_of v1)$"
mkdir models tests
echo a page >README.md
echo a test >tests/speed_test.cpp
echo a model >models/speed.cpp
commit 2026-01-04 "Third"
check "nor with another page, test and model" compares 0
check "said in the same words" says '^nothing to compare: neither library nor flags have changed'
echo '# another flag' >>Makefile
check "other flags are a change" compares 0
check "that is compared" says '^\| lstm \| ln \| 3.00 \| 3.00 \| 1.000 '
git checkout -q Makefile
check "an unknown commit is refused" compares 2 v2
check "and named, in one line" [ "$(cat said)" = "tools/compare-release: no commit v2 in this clone; git log shows them" ]
git mv core/speed.h core/fast.h
commit 2026-01-05 "Broken"
check "a tree that does not build fails" compares 2
git mv core/fast.h core/speed.h
echo 1 >core/speed.h
commit 2026-01-07 "Mended"
check "an older commit that does not build does not" compares 0 HEAD~1
check "but is named" says "^nothing to compare: $(commit_of HEAD~1) does not build here"
git tag -d v1 >/dev/null
git mv core/speed.h core/fast.h
commit 2026-01-08 "Half of a change"
git mv core/fast.h core/speed.h
echo 2 >core/speed.h
commit 2026-01-08 "Its other half" 12:10:00
echo 4 >core/speed.h
commit 2026-01-09 "A day after the half" 12:05:00
check "an hour's work is not compared with by halves" compares 0
check "but what stood before it is" says "^OLD is $(commit_of HEAD~3) of 2026-01-07"

sed -i 's/sys.stdin: print/sys.stdin: sys.exit(1) if SPEED == 1 else print/' step.py
echo 2 >core/speed.h
commit 2026-01-10 "Another program"
echo 1 >core/speed.h
check "a program that cannot time the steps does not fail either" compares 0 HEAD
check "but is named" says '^build/bench_steps .* ended in the middle'
check "with what that means" says '^nothing to compare: one of the two programs does not time these steps$'

# What both trees make of the same source by the same command is compiled once, also where it was compiled before the older
# commit was made.
cat >Makefile <<'END'
build/bench_steps: build/objects/speed.o build/objects/step.o
	sed "s/SPEED/$$(cat build/objects/speed.o)/g" build/objects/step.o >$@ && chmod +x $@
build/objects/speed.o: core/speed.h
	@echo '[1/2] core/speed.h' && mkdir -p $(@D) && ./compile -c $< -o $@
build/objects/step.o: core/step.py
	@echo '[2/2] core/step.py' && mkdir -p $(@D) && ./compile -c $< -o $@
END
printf '#!/bin/sh\ncp "$2" "$4" && basename "$2" >>compiled\n' >compile && chmod +x compile
git mv step.py core/step.py
echo compiled >>.gitignore
echo 2 >core/speed.h
touch -d 2026-01-15 core/*
make -s build/bench_steps >/dev/null
touch -d 2026-01-16 build/objects/*
commit 2026-01-20 "Another Makefile"
older=build/release/$(commit_of HEAD)
echo 3 >core/speed.h
check "a change of one source" compares 0 HEAD
check "is compared" says '^\| lstm \| ln \| 2.00 \| 3.00 \| 1.500 '
check "it alone is compiled in the older tree" [ "$(cat "$older/compiled")" = speed.h ]
rm -r "$older" && printf '# a comment\nbuild/objects/more.o: ;\n' >>Makefile && sed -i 's/1\/2/1\/3/' Makefile
check "with a Makefile that makes the objects in the same way" compares 0 HEAD
check "it alone is, too" [ "$(cat "$older/compiled")" = speed.h ]
rm -r "$older" && sed -i '/step.py.*compile/s/compile/compile /' Makefile
check "with another command for the other source" compares 0 HEAD
check "both are" [ "$(sort "$older/compiled")" = "$(printf 'speed.h\nstep.py')" ]
rm -r "$older" && git checkout -q Makefile && echo '# another way' >tools/together.sh && git add tools/together.sh
check "where groups are compiled in another way" compares 0 HEAD
check "both are as well" [ "$(sort "$older/compiled")" = "$(printf 'speed.h\nstep.py')" ]

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
