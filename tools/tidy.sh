#!/usr/bin/env bash
# clang-tidy, and clang's WARNINGS in both scalar types, over many sources at once: most of their time goes into the
# standard headers, which are then read once.
#
#   tools/tidy.sh SCRATCH FLAGS WARNINGS SOURCE...
#
# The sources of a group (tools/together.sh) are included by one file in the folder SCRATCH, where the `main` of each
# program has a number. Sources that cannot stand in one file all the same, which the compiler says, wait for the next round.
set -uo pipefail
scratch=$1 flags=$2 warnings=$3
shift 3
mkdir -p "$scratch"
together=$scratch/together.cpp log=$scratch/log double_log=$scratch/double_log

include() {  # include SOURCE...
  local source number=0
  for source in "$@"; do
    number=$((number + 1))
    printf '#define main main_%s\n#include "%s"  // NOLINT(bugprone-suspicious-include)\n#undef main\n' $number "$source"
  done >"$together"
}

in_double() { clang++ -fsyntax-only -ferror-limit=0 $flags $warnings -DLAMINA_DOUBLE "$@" 2>"$double_log"; }

tidy() {  # tidy SOURCE WARNINGS OPTION...: with the compiler's WARNINGS
  local source=$1 warnings=$2
  shift 2
  clang-tidy --quiet "$@" "$source" -- $flags $warnings >"$log" 2>&1 && return
  grep -vE '(warnings?|errors?) (and [0-9]+ errors? )?generated|^Error while processing ' "$log"
  code=1
}

# These two checks ignore included files, so a source with code that they apply to is also read separately.
alone=misc-unused-using-decls,misc-unused-alias-decls
for_alone='^ *(using +[A-Za-z0-9_:]+::[A-Za-z0-9_]+|namespace +[a-z0-9_]+ *=)'

code=0
check_group() {  # check_group SOURCE...
  local group source waiting kept named
  while [ $# -gt 0 ]; do
    group=("$@") waiting=()
    # A main need not return, one with a number must; the builds have this warning.
    while include "${group[@]}" && ! in_double "$together" -Wno-return-type && [ ${#group[@]} -gt 1 ]; do
      # An error that ends in [-Werror,-Wname] is a warning.
      named=$(sed -nE 's|^(\./)?([^:]*):[0-9]+:[0-9]+: (fatal )?error: .*[^]]$|\2|p' "$double_log")
      [ -n "$named" ] || break
      kept=("${group[0]}")
      for source in "${group[@]:1}"; do
        if grep -qxF -- "$source" <<<"$named"; then waiting+=("$source"); else kept+=("$source"); fi
      done
      # The error is in a header, or in the first source: it does not tell which source to leave out.
      [ ${#kept[@]} -lt ${#group[@]} ] || { waiting+=("${kept[@]:1}"); kept=("${kept[0]}"); }
      group=("${kept[@]}")
    done
    echo "clang-tidy ${group[*]}"
    tidy "$together" "$warnings -Wno-return-type"
    # What is wrong in float as well has been said.
    [ ! -s "$double_log" ] || { code=1; grep -qF clang-diagnostic- "$log" || cat "$double_log"; }
    for source in $(grep -lE "$for_alone" "${group[@]}"); do tidy "$source" '' --checks="-*,$alone"; done
    set -- "${waiting[@]}"
  done
}

while read -ra group; do check_group "${group[@]}"; done < <("$(dirname "$0")/together.sh" groups 40 "$@")
exit $code
