#!/usr/bin/env bash
# tools/includes.py must say which names lack their header, and nothing of a file that includes what it uses.
set -uo pipefail
cd "$(dirname "$0")/../.."
includes=$PWD/tools/includes.py
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
git init -q .
passed=0 failed=0
check() {  # check TITLE SOURCE LINE...: what is said of the source, without its name
  local title=$1 code=$2 said
  shift 2
  printf '%s\n' "$code" >core/source.cpp
  git add -A
  said=$("$includes" | sed 's|^core/source.cpp:||')
  if [ "$said" = "$(printf '%s\n' "$@")" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s, which is said to be\n%s\n' "$title" "$said"
  fi
}

mkdir core
printf '#pragma once\n#include <vector>\nnamespace lamina {\nstruct Tensor { std::vector<int> sizes; };\n[[nodiscard]] int rank_of(const Tensor& tensor);\n}\n' >core/tensor.h
printf '#pragma once\n#include "core/tensor.h"\nnamespace lamina {\nconstexpr int widest_row = 3;\n}\n' >core/rows.h

check "a standard name without its header" 'std::vector<int> a;' '1: std::vector needs #include <vector>'
check "with it" $'#include <vector>\nstd::vector<int> a;'
check "with a header of ours that has it" $'#include "core/tensor.h"\nstd::vector<int> a;'
check "with one that another of ours has" $'#include "core/rows.h"\nstd::vector<int> a;'
check "one of several headers" $'\n\nint a = std::move(1);' '3: std::move needs #include <algorithm> or <utility>'
check "a header that another must bring" $'#include <fstream>\nstd::string a;'
check "a namespace with a header of its own" 'std::filesystem::path a;' '1: std::filesystem::path needs #include <filesystem>'
check "a name that nobody listed" 'std::strange a;' '1: std::strange is not in the table of tools/includes.py: add it there'
check "words in comments and texts" $'// std::vector Tensor\nconst char* a = "std::vector Tensor"; /* std::map */'

check "a type of ours" 'int a(const Tensor&);' '1: Tensor needs #include "core/tensor.h"'
check "through a header" $'#include "core/rows.h"\nint a(const Tensor&);'
check "declared before it is used" $'struct Tensor;\nint a(const Tensor&);'
check "as a member of something else" 'int a(const Other::Tensor&);'
check "a function of ours" $'int a() { return rank_of({}); }' '1: rank_of needs #include "core/tensor.h"'
check "a function of the same name here" $'int rank_of(int);\nint a() { return rank_of(1); }'
check "a variable of its name" $'int a(int rank_of) { return rank_of; }'
check "a member of its name" $'int a(Other& b) { return b.rank_of(1); }'
check "a constant of ours" $'int a = 2 * widest_row;' '1: widest_row needs #include "core/rows.h"'

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
