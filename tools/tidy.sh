#!/usr/bin/env bash
# clang-tidy, and clang's WARNINGS in both scalar types, over many sources at once: most of their time goes into the
# standard headers, which are then read once.
#
#   tools/tidy.sh SCRATCH FLAGS WARNINGS SOURCE...
#
# The sources are included by one file in the folder SCRATCH, where the `main` of each program has a number. Sources that
# declare another name twice cannot be in one file: the compiler reports them, and they wait for the next round.
set -uo pipefail
scratch=$1 flags=$2 warnings=$3
shift 3
mkdir -p "$scratch"
together=$scratch/together.cpp log=$scratch/log

compiles() {  # compiles SOURCE...
  local source number=0
  for source in "$@"; do
    number=$((number + 1))
    printf '#define main main_%s\n#include "%s"  // NOLINT(bugprone-suspicious-include)\n#undef main\n' $number "$source"
  done >"$together"
  clang++ -fsyntax-only -ferror-limit=0 -w $flags "$together" 2>"$log"
}

tidy() {  # tidy SOURCE OPTION...
  local source=$1
  shift
  clang-tidy --quiet "$@" "$source" -- $flags >"$log" 2>&1 && return
  grep -v 'warnings\? generated' "$log"
  return 1
}

has_no_warnings() {  # has_no_warnings SOURCE OPTION...
  for scalar in '' -DLAMINA_DOUBLE; do clang++ -fsyntax-only -ferror-limit=0 $flags $warnings $scalar "$@" || return 1; done
}

# These two checks ignore included files, so a source with code that they apply to is also read separately.
alone=misc-unused-using-decls,misc-unused-alias-decls
for_alone='^ *(using +[A-Za-z0-9_:]+::[A-Za-z0-9_]+|namespace +[a-z0-9_]+ *=)'

code=0
while [ $# -gt 0 ]; do
  group=("$@") waiting=()
  while [ ${#group[@]} -gt 1 ] && ! compiles "${group[@]}"; do
    named=$(sed -nE 's|^(\./)?([^:]*):[0-9]+:[0-9]+: (fatal )?error: .*|\2|p' "$log")
    kept=("${group[0]}")
    for source in "${group[@]:1}"; do
      if grep -qxF -- "$source" <<<"$named"; then waiting+=("$source"); else kept+=("$source"); fi
    done
    # The error is in a header, or in the first source: it does not tell which source to leave out.
    [ ${#kept[@]} -lt ${#group[@]} ] || { waiting+=("${kept[@]:1}"); kept=("${kept[0]}"); }
    group=("${kept[@]}")
  done
  echo "clang-tidy ${group[*]}"
  if [ ${#group[@]} = 1 ]; then
    has_no_warnings "${group[0]}" || code=1
    tidy "${group[0]}" || code=1
  else
    # A main need not return, one with a number must; the builds have this warning.
    has_no_warnings "$together" -Wno-return-type || code=1
    tidy "$together" || code=1
    for source in $(grep -lE "$for_alone" "${group[@]}"); do tidy "$source" --checks="-*,$alone" || code=1; done
  fi
  set -- "${waiting[@]}"
done
exit $code
