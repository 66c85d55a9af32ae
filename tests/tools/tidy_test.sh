#!/usr/bin/env bash
# tools/tidy.sh must find in sources that it reads together what clang-tidy finds in each separately.
set -uo pipefail
cd "$(dirname "$0")/../.."
if ! command -v clang-tidy >/dev/null || ! command -v clang++ >/dev/null; then
  echo "there is no clang-tidy: skipped"
  echo "0 passed, 0 failed, 8 skipped"
  exit 0
fi

tidy=$PWD/tools/tidy.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/core"
cp .clang-tidy "$scratch"
cd "$scratch" || exit 1
passed=0 failed=0
expect() {  # expect TITLE EXIT-CODE GROUPS FINDINGS SOURCE...: GROUPS rounds, and lines that name a source and an error
  local title=$1 code=$2 groups=$3 findings=$4 output actual
  shift 4
  output=$("$tidy" scratch "-std=c++20 -I." "-Wall -Wreserved-identifier -Werror" "$@" 2>&1)
  actual=$?
  if [ "$actual" = "$code" ] && [ "$(grep -c '^clang-tidy ' <<<"$output")" = "$groups" ] &&
     [ "$(grep -c 'core/.*: error: ' <<<"$output")" = "$findings" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s: exit code %s\n%s\n' "$title" "$actual" "$output"
  fi
}

cat >core/clean.cpp <<'E2'
#include <string>
namespace {
int size() { return 1; }
}  // namespace
int clean(const std::string& text) { return text.empty() ? size() : 0; }
E2
# An unused alias and an unused declaration, a copy, a capital letter, a zero for a pointer, a reserved name, a moved
# value, size() == 0.
cat >core/odd.cpp <<'E2'
#include <string>
#include <utility>
#include <vector>
using std::vector;
namespace alias = std;
int* pointer() { return 0; }
int Capital(std::string copied) { return static_cast<int>(copied.size()); }
int __reserved() { return 1; }
std::string moved(std::string a) {
  std::string b = std::move(a);
  return b + a;
}
bool none(const std::string& a) { return a.size() == 0; }
E2
cat >core/same_name.cpp <<'E2'
namespace {
int size() { return 2; }
}  // namespace
int Second() { return size(); }
E2
echo 'int broken( { return 1; }' >core/broken.cpp
echo 'int fine() { return 1; }' >core/fine.cpp

echo 'int main() { return 0; }' >core/program.cpp
printf 'int Capital() { return 1; }\nint main() {\n  int* none = 0;\n  if (none != nullptr) Capital();\n}\n' >core/odd_program.cpp

expect "nothing in what is clean" 0 1 0 core/clean.cpp core/fine.cpp
expect "one source" 1 1 9 core/odd.cpp
expect "as much in several as in one" 1 1 9 core/clean.cpp core/odd.cpp core/fine.cpp
mkdir -p core/ops/attention
cp core/odd.cpp core/ops/attention
expect "as much in folders of folders" 1 1 9 core/clean.cpp core/ops/attention/odd.cpp
expect "programs, each with a main" 1 1 2 core/program.cpp core/odd_program.cpp core/clean.cpp
expect "sources that cannot stand together" 1 2 10 core/clean.cpp core/odd.cpp core/same_name.cpp
expect "a source that does not compile" 1 2 2 core/clean.cpp core/broken.cpp

printf '#ifdef LAMINA_DOUBLE\nint half(long whole) { int unused; return int(whole / 2); }\n#endif\n' >core/of_double.cpp
expect "a warning of one scalar type" 1 1 1 core/clean.cpp core/of_double.cpp

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
