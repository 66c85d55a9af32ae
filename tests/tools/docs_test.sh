#!/usr/bin/env bash
# make docs: no warnings, and formulas of the comments typeset. tools/docs/typeset.py is tested without Doxygen too.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0
check() {  # check TITLE COMMAND...
  local title=$1
  shift
  if "$@" >"$scratch/output" 2>&1; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$title"
    tail -n 5 "$scratch/output"
  fi
}

cat >"$scratch/header.h" <<'END_OF_HEADER'
#pragma once
// A file.
//
//   y_i = gain (a_i - mu) / sqrt(sigma^2 + epsilon),  with a mean
//
//   Lstm lstm(parameters, "lstm", {.input = 2});

/// y = x^(n - 1), where a < b. And `a<b>`.
int f();  // not a description
int g;  ///< <eos>
END_OF_HEADER
tools/docs/typeset.py "$scratch/header.h" >"$scratch/laid-out"
holds() { grep -qF -- "$1" "$scratch/laid-out"; }
check "the opening comment describes the file" holds ' @file'
check "letters, roots and indices" holds '<td>y<sub>i</sub> = gain (a<sub>i</sub> − μ) / √(σ<sup>2</sup> + ε),</td><td>with a mean</td>'
check "programs stay programs" grep -A1 -F '@code{.cpp}' "$scratch/laid-out"
check "as they are" holds 'Lstm lstm(parameters, "lstm", {.input = 2});'
# shellcheck disable=SC2016
check "a line that begins with a formula" holds 'y = x<sup>n − 1</sup>, where a &lt; b. And `a<b>`.'
check "other comments stay" holds 'int f();  // not a description'
check "descriptions behind the line hold no HTML" holds '///< &lt;eos>'

if command -v doxygen >/dev/null; then
  check "no warnings" make --no-print-directory docs
  check "a class has its page" grep -q 'gain' build/docs/html/classlamina_1_1LayerNorm.html
  check "with its file's formula typeset" grep -q '^<tr><td>y = gain (a − μ) / √(σ<sup>2</sup> + ε) + bias,</td>' build/docs/html/layer__norm_8h.html
  tail=
else
  echo "skipped: make docs needs doxygen (tools/install-deps.sh --dev)"
  tail=", 1 skipped"
fi
echo "$passed passed, $failed failed${tail:-}"
[ "$failed" = 0 ]
