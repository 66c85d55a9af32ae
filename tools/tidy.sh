#!/usr/bin/env bash
# clang-tidy over many sources at once: most of its time goes into the standard headers, which it then reads once.
#
#   tools/tidy.sh SCRATCH FLAGS SOURCE...
#
# The sources are included by one file in the folder SCRATCH. Those that declare the same name for themselves cannot stand
# in one file: the compiler says which, and they wait for the next round.
set -uo pipefail
scratch=$1 flags=$2
shift 2
mkdir -p "$scratch"
together=$scratch/together.cpp log=$scratch/log

compiles() {  # compiles SOURCE...
  printf '#include "%s"  // NOLINT(bugprone-suspicious-include)\n' "$@" >"$together"
  clang++ -fsyntax-only -ferror-limit=0 -w $flags "$together" 2>"$log"
}

tidy() {  # tidy SOURCE OPTION...
  local source=$1
  shift
  clang-tidy --quiet "$@" "$source" -- $flags >"$log" 2>&1 && return
  grep -v 'warnings\? generated' "$log"
  return 1
}

# These two checks look at nothing that is included, so a source that has something for them is also read by itself.
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
    # The error stands in a header, or in the first source: no telling whom it has to do without.
    [ ${#kept[@]} -lt ${#group[@]} ] || { waiting+=("${kept[@]:1}"); kept=("${kept[0]}"); }
    group=("${kept[@]}")
  done
  echo "clang-tidy ${group[*]}"
  if [ ${#group[@]} = 1 ]; then
    tidy "${group[0]}" || code=1
  else
    tidy "$together" || code=1
    for source in $(grep -lE "$for_alone" "${group[@]}"); do tidy "$source" --checks="-*,$alone" || code=1; done
  fi
  set -- "${waiting[@]}"
done
exit $code
