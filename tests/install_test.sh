#!/usr/bin/env bash
# An installed Lamina is enough to build a program: headers, libraries and pkg-config files, without the clone.
set -uo pipefail
cd "$(dirname "$0")/.."
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR REAL SANITIZE ARCH LAMINA_THREADS

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0 skipped=0
# Reads to the end: a program whose reader ends early dies of SIGPIPE, which pipefail counts as a failure.
finds() { grep "$@" >/dev/null; }
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
check_if() {  # check_if CONDITION TITLE COMMAND...: CONDITION is a command, and its failure is a reason to skip
  if $1 >/dev/null 2>&1; then check "${@:2}"; else echo "skipped: $2: not $1"; skipped=$((skipped + 1)); fi
}
has() { command -v "$1"; }

export PKG_CONFIG_PATH=$scratch/prefix/lib/pkgconfig
prefix=$scratch/prefix

# --- Programs, as a user would build them, in a separate folder. They run with an empty environment.

build_program() {  # build_program HEADERS LIBRARY
  cp tests/install/program.cpp "$scratch"
  (cd "$scratch" && ${CXX:-g++} program.cpp $(pkg-config --cflags "$1") $(pkg-config --libs "$2") -o program)
}
does_not_link() { ! build_program "$@" >"$scratch/link" 2>&1 && grep -q 'undefined reference to .*in_' "$scratch/link"; }
program_sums() { "$scratch/program" | tail -n +2 | diff - <(printf 'half of the smallest normal number: 0\nthe sum of %s-byte ones: 3\nthe sum of their products: 70785\n' "$1"); }
program_prints_threads() { "$scratch/program" | finds '^lamina [0-9.]*, [0-9]* threads, .* kernels$'; }
threads_are() { LAMINA_THREADS=$1 "$scratch/program" | finds ", $1 threads, "; }
nonsense_is_named() {
  local said
  said=$(LAMINA_THREADS=many "$scratch/program" 2>&1)
  [[ $said == *'LAMINA_THREADS=many: is no whole number from 1 to 1024'* ]]
}

# Read once, the standard headers take a third of the compiler's time less.
install() { make -j2 install PRECOMPILED=1 "$@"; }

refuses_a_space() {  # and has built nothing by then
  ! make install "$@" >"$scratch/said" 2>&1 && grep -qF 'make and pkg-config end a name at a space' "$scratch/said" && ! grep -q '^building' "$scratch/said"
}
check "a PREFIX with a space in it is refused" refuses_a_space "PREFIX=$scratch/a folder"
check "a DESTDIR as well" refuses_a_space "PREFIX=/opt/lamina" "DESTDIR=$scratch/a folder"

check "make install" install "PREFIX=$prefix"
check "the pkg-config file is valid" pkg-config --validate lamina
check "a program builds" build_program lamina lamina
check "the program runs" program_prints_threads
check "the program computes in float" program_sums 4
check "LAMINA_THREADS gives the number of threads" threads_are 3
check "nonsense in LAMINA_THREADS is named" nonsense_is_named

# --- Kernels. The dynamic linker takes the best library for the CPU, or for the one that it is told to assume.

dynamic_linker() { ldd "$scratch/program" | sed -n 's/^[[:space:]]*\(\/[^ ]*ld[^ ]*\) (.*/\1/p'; }
cpu_is() { "$(dynamic_linker)" --help | finds "^ *$1 (supported"; }  # x86-64-v3
kernels_are() { "$scratch/program" | finds ", $1 kernels$"; }
masked_kernels_are() {
  "$(dynamic_linker)" --glibc-hwcaps-mask "$1" "$scratch/program" >"$scratch/masked" && cat "$scratch/masked" &&
    grep -q ", $2 kernels$" "$scratch/masked" && grep -qx 'the sum of their products: 70785' "$scratch/masked"
}
# A program has its own copies of inline functions, built for any x86-64: the library must not run them.
program_lends_nothing() {
  LD_BIND_NOW=1 LD_DEBUG=bindings "$scratch/$1" >"$scratch/bindings" 2>&1 && grep -q 'program \[0\] to [^ ]*liblamina' "$scratch/bindings" &&
    ! grep 'liblamina[^ ]* \[0\] to [^ ]*program \[0\].*`_ZN' "$scratch/bindings"
}
holds_no_library() { ldd "$scratch/program" >"$scratch/needs" && ! finds liblamina <"$scratch/needs"; }

check "the library runs none of the program's functions" program_lends_nothing program
check_if "cpu_is x86-64-v4" "a CPU with AVX-512 runs that library" kernels_are AVX-512
check_if "cpu_is x86-64-v3" "without glibc's folder for it the AVX2 library runs" masked_kernels_are x86-64-v3 AVX2

# A tile of several rows uses every vector of b that it has loaded once for each: compilers are free to load it again for
# every multiply-add instead, which made LSTMs 1.14 times as slow. Tiles of 3 x 4 have registers for three vectors of four.
rows_of_b_stay_in_registers() {  # rows_of_b_stay_in_registers ARCH
  local object counted
  for object in kernel gathered_tile; do
    counted=$(objdump -dC --no-show-raw-insn "build/variant-for-$1/objects/core/gemm/$object.o" | awk '
      /^[0-9a-f]+ </ { tile = $0 ~ /tile(_in_parts)?<([2-9]|1[0-9])ul/ ? $0 : "" }
      tile && /vfmadd/ { all[tile]++; if (/\(%/ && !/1to/) loads[tile]++ }
      END { for (tile in all) { tiles++; if (loads[tile] > all[tile] / 4) print loads[tile], "of", all[tile], "load:", tile }
            if (tiles < 8) print "found only", tiles + 0, "tiles" }') || return
    [ -z "$counted" ] || { echo "$object: $counted"; return 1; }
  done
}
has_x86_objects() { has objdump && [ "$(uname -m)" = x86_64 ]; }
for arch in x86-64-v3 x86-64-v4; do
  check_if has_x86_objects "the tiles for $arch hold rows of b in registers" rows_of_b_stay_in_registers "$arch"
done
check "a program with the static library builds" build_program lamina-static lamina-static
check "it needs no shared one" holds_no_library
check "it computes" program_sums 4

# --- Headers: no warning in a program that asks for many.

WARNINGS="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror"
no_warning() {  # no_warning COMPILER HEADER
  echo "#include <$2>" | $1 $WARNINGS $(pkg-config --cflags lamina) -fsyntax-only -x c++ -
}
cpu_seconds() { local TIMEFORMAT=%U; { time no_warning "$@" >/dev/null 2>&1; } 2>&1; }
for header in lamina.h lamina/extend.h lamina/train.h; do
  for compiler in g++ clang++; do
    check_if "has $compiler" "$compiler compiles <$header> without a warning" no_warning "$compiler" "$header"
  done
  echo "g++ compiles <$header> in $(cpu_seconds g++ "$header") s of a core"
done
refuses_fast_math() {  # refuses_fast_math COMPILER: an own op's exp would be wrong without a word
  ! echo "#include <lamina/extend.h>" | $1 -ffast-math $(pkg-config --cflags lamina) -fsyntax-only -x c++ - 2>"$scratch/err" &&
    grep -q "make exp, tanh and sigmoid wrong; compile without" "$scratch/err"
}
for compiler in g++ clang++; do
  check_if "has $compiler" "$compiler refuses -ffast-math" refuses_fast_math "$compiler"
done

# --- lamina-train

build_train_program() {  # build_train_program LIBRARY
  ${CXX:-g++} tests/install/train_program.cpp $(pkg-config --cflags --libs "$1") -o "$scratch/train_program"
}
trains() {  # trains PROGRAM FOLDER: and resumes in a second session
  (cd "$scratch" && "$1" "$2" && "$1" "$2") >"$scratch/log"
  grep -q '^2 rows, .* with own kernels with ' "$scratch/log" && grep -q '^4 rows, learned with ' "$scratch/log" &&
    [ "$(tail -n 1 "$scratch/log")" = "3 2" ] && [ -f "$scratch/$2/model.safetensors" ] && [ -f "$scratch/$2/ink.png" ]
}
# Its headers do not need the library's own dependencies.
includes_nothing_else() { ! grep -rEh '^#include <.*/.*>' "$prefix/include/lamina/models"; }

check "a program that trains builds" build_train_program lamina-train
check "it trains and goes on" trains "$scratch/train_program" runs/shared
check "a program that trains builds with the static libraries" build_train_program lamina-train-static
check "it trains and goes on" trains "$scratch/train_program" runs/static
check "the headers of lamina-train include no other library's" includes_nothing_else

# --- The examples, built as in models/examples/README.md. Each takes seconds.

build_example() { ${CXX:-g++} -O2 -Wall -Wextra -Werror "models/examples/$1.cpp" $(pkg-config --cflags --libs lamina-train) -o "$scratch/$1"; }
run_example() {
  local arguments=()
  case $1 in
    character_lstm) arguments=("$PWD/models/examples/$1.cpp" 100) ;;
    from_pytorch) tests/install/state_dict.py "$scratch/state_dict" && arguments=("$scratch/state_dict") || return ;;
  esac
  (cd "$scratch" && timeout 300 "./$1" "${arguments[@]}") >"$scratch/said" || return
  cat "$scratch/said"
  ! grep -qwi nan "$scratch/said" && { [ "$1" != from_pytorch ] || grep -qx 'f(1, 2) = -0.788449' "$scratch/said"; }
}
for file in models/examples/*.cpp; do
  name=$(basename "$file" .cpp)
  check "example $name builds without a warning" build_example "$name"
  check "example $name runs" run_example "$name"
done

too_short() { head -c 263 README.md >"$scratch/short" && ! said=$("$scratch/character_lstm" "$scratch/short" 2>&1) && [ "$said" = "$scratch/short: give at least 264 characters" ]; }
check "example character_lstm refuses a short text" too_short

# --- CMake: find_package of what is installed, FetchContent of the clone.

configure() { cmake -S tests/install/cmake -B "$scratch/$1" -DCMAKE_BUILD_TYPE=Release "${@:2}"; }
cmake_program_runs() { "$scratch/$1/program" | tail -n 1 | finds -x 'the sum of their products: 70785'; }

if command -v cmake >/dev/null; then
  check "find_package(Lamina) finds what is installed" configure found "-DCMAKE_PREFIX_PATH=$prefix"
  check "programs build with it" cmake --build "$scratch/found"
  check "they compute" cmake_program_runs found
  check "and train" trains "$scratch/found/train_program" runs/found
  # Not optimized, which takes half as long to compile.
  check "FetchContent takes in the clone" configure fetched "-DCLONE=$PWD" -DLAMINA_OPTIMIZE=-O0
  check "programs and libraries build" cmake --build "$scratch/fetched" -j2
  check "they compute" cmake_program_runs fetched
  check "and train" trains "$scratch/fetched/train_program" runs/fetched
else
  echo "skipped: CMake's packages: there is no cmake"
  skipped=$((skipped + 8))
fi

# --- Both scalar types under one prefix, staging, a single kind of CPU.

staged_below() { [ -f "$1/opt/lamina/lib/liblamina-double.a" ] && grep -qx 'prefix=/opt/lamina' "$1/opt/lamina/lib/pkgconfig/lamina-double.pc"; }
no_newer_library() { [ -e "$prefix/lib/liblamina.so" ] && ! ls "$prefix"/lib/glibc-hwcaps/*/liblamina.so*; }

# The double library for one kind of CPU, to shorten the test: the one for which core/OWN_OP.md installs it when it is tested.
if [ "$(uname -m)" = x86_64 ]; then arch=x86-64-v3; else arch=native; fi
check "make install REAL=double under the same prefix" install REAL=double ARCH=native "PREFIX=$prefix"
check "a program for double builds" build_program lamina-double lamina-double
check "the program computes in double" program_sums 8
check "a program for float still builds" build_program lamina lamina
check "the program computes in float still" program_sums 4
check "headers for float do not link with the double library" does_not_link lamina lamina-double
check "headers for double do not link with the float library" does_not_link lamina-double lamina
check "make install into a staging folder" install REAL=double ARCH=native PREFIX=/opt/lamina "DESTDIR=$scratch/stage"
check "DESTDIR does not leak into the pkg-config file" staged_below "$scratch/stage"
check "make install ARCH=$arch over it" install ARCH=$arch "PREFIX=$prefix"
check "leaves no library for other CPUs" no_newer_library

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
