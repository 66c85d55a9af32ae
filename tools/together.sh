#!/usr/bin/env bash
# Sources that are compiled as one: much of a compiler's time goes into headers and templates, which are then read once.
#
#   tools/together.sh groups SIZE SOURCE...                    prints groups of up to SIZE sources, a line each
#   tools/together.sh compile OBJECT COMPILER... -- SOURCE...  compiles a group; COMPILER is followed by its options
#
# No two sources of a group declare the same name, none mentions a constant or a type of another, which it might shadow, and all
# use the same namespaces. That is seen by how lines begin, without a parser. Where it misses something the compiler does not,
# and the sources of that group are then compiled one by one, with the compiler's words if they are at fault themselves.
# A `main` counts for nothing: tools/tidy.sh gives each a number.
set -euo pipefail

groups() {  # groups SIZE SOURCE...
  local size=$1
  shift
  [ $# -gt 0 ] || return 0
  awk -v size="$size" '
    function declare(name, constant) {
      if (name ~ /:/ || name == "main" || (FILENAME, name) in declared) return
      declared[FILENAME, name] = 1
      names[FILENAME] = names[FILENAME] " " name
      if (constant) constants[FILENAME] = constants[FILENAME] " " name
    }
    FNR == 1 { sources[++count] = FILENAME }
    { sub(/\/\/.*/, "") }
    /^using namespace/ && !/ lamina(::test)?;/ { used[FILENAME] = used[FILENAME] $3 }
    /^using [A-Za-z0-9_:]+;/ { name = $2; gsub(/.*:|;/, "", name); declare(name, 0) }
    /^[A-Za-z]/ && !/^(namespace|using [^=]*;|TEST_CASE|TEST_SUITE|static_assert)/ {
      if (match($0, /^(struct|class|enum class|enum|union) +[A-Za-z0-9_]+/) || match($0, /^using +[A-Za-z0-9_]+ *=/)) {
        name = substr($0, RSTART, RLENGTH)
        sub(/ *=$/, "", name)
        sub(/.* /, "", name)
        declare(name, 1)
      } else if (match($0, /[:A-Za-z0-9_]+ *[({=[;]/)) {
        name = substr($0, RSTART, RLENGTH)
        kind = substr(name, length(name))
        gsub(/[ ({=[;]/, "", name)
        declare(name, kind != "(")
        rest = $0
        while (kind == "=" && match(rest, /, [A-Za-z0-9_]+ =/)) {
          declare(substr(rest, RSTART + 2, RLENGTH - 4), 1)
          rest = substr(rest, RSTART + RLENGTH)
        }
      }
    }
    {
      number = split($0, words, /[^A-Za-z0-9_.>]+/)
      for (w = 1; w <= number; ++w)
        if (!((FILENAME, words[w]) in mentioned)) {
          mentioned[FILENAME, words[w]] = 1
          mentions[FILENAME] = mentions[FILENAME] " " words[w]
        }
    }
    END {
      for (s = 1; s <= count; ++s) {
        source = sources[s]
        n = split(names[source], own, " ")
        c = split(constants[source], own_constants, " ")
        m = split(mentions[source], own_mentions, " ")
        for (g = 1; ; ++g) {
          fits = members[g] < size && (!members[g] || used[source] == used_by[g])
          for (i = 1; i <= n && fits; ++i) fits = !((g, own[i]) in taken)
          for (i = 1; i <= c && fits; ++i) fits = !((g, own_constants[i]) in in_use)
          for (i = 1; i <= m && fits; ++i) fits = !((g, own_mentions[i]) in fixed)
          if (fits) break
        }
        for (i = 1; i <= n; ++i) taken[g, own[i]]
        for (i = 1; i <= c; ++i) fixed[g, own_constants[i]]
        for (i = 1; i <= m; ++i) in_use[g, own_mentions[i]]
        used_by[g] = used[source]
        group[g] = group[g] (members[g]++ ? " " : "") source
        if (g > number_of_groups) number_of_groups = g
      }
      for (g = 1; g <= number_of_groups; ++g) print group[g]
    }' "$@"
}

compile() {  # compile OBJECT COMPILER... -- SOURCE...
  local object=$1 source compiler=() parts=()
  shift
  while [ "$1" != -- ]; do compiler+=("$1"); shift; done
  shift
  # From standard input, so that the sources have the names that they have when they are compiled alone.
  if [ $# -gt 1 ] && printf '#include "%s"\n' "$@" | "${compiler[@]}" -MMD -MP -MT "$object" -MF "${object%.o}.d" -x c++ -c - -o "$object" 2>"$object.log"; then
    cat "$object.log"
    return
  fi
  [ $# = 1 ] || echo "one by one, since together they do not compile ($object.log): $*"
  for source; do
    parts+=("$object.${#parts[@]}")
    "${compiler[@]}" -MMD -MP -MT "$object" -MF "${parts[-1]}.d" -c "$source" -o "${parts[-1]}"
  done
  # A rule for each source, as -MP gives one to each header: make goes on without what has been removed.
  { cat "${parts[@]/%/.d}" && printf '%s:\n' "$@"; } >"${object%.o}.d"
  ld -r "${parts[@]}" -o "$object"
  rm "${parts[@]}" "${parts[@]/%/.d}"
}

"$@"
