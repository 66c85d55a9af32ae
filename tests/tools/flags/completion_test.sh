#!/usr/bin/env bash
# `lamina completion` and `lamina manual`: what bash completes, and that the page is one that man shows, both made from the
# same declaration as --help.
source "$(dirname "$0")/../checks.sh"

"$lamina" completion >script || broken
"$lamina" manual >lamina.1 || broken
# shellcheck disable=SC1091
source ./script

completes() {  # completes "WANTED..." WORD...: the last word, which is being typed, becomes all of these and nothing else
  local wanted=$1
  shift
  COMP_WORDS=(lamina "$@") COMP_CWORD=$#
  COMPREPLY=()
  _lamina
  [ "$(printf '%s\n' "${COMPREPLY[@]}" | sort | xargs)" = "$(tr ' ' '\n' <<<"$wanted" | sort | xargs)" ] && return
  echo "  lamina $*: ${COMPREPLY[*]}"
  return 1
}

check "bash takes the script" bash -n script
check "a command" completes "mnist" mn
check "several" completes "graph geometry" g
check "a flag" completes "--norm" mnist --nor
check "the values of a flag" completes "layer" mnist --norm la
check "a flag behind a value" completes "--preset" mnist --norm layer --pre
check "a command of a command" completes "show" attentive-reader s
check "  and its flags, not those of the outer one" completes "--test --threads" attentive-reader show runs/a --t
check "a word that names a command elsewhere is none" completes "--norm" mnist --out draw --nor
check "files where the program knows nothing" completes "" mnist --data fi
check "nothing for what it has not" completes "" mnist --zz
check "bash falls back on files" grep -q '^complete -o default -F _lamina lamina$' script

# --- zsh, with the Tab key in a terminal of its own
zsh_completes() {  # zsh_completes WANTED TYPED: behind Tab and Return lamina is called with the words WANTED
  [ "$(timeout 60 zsh -f "$scratch/keys.zsh" "$2")" = "$1" ]
}
if command -v zsh >/dev/null; then
  cat >keys.zsh <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1=; autoload -U compinit && compinit -u -D; source ./script; lamina() { print -r "got:$*:" }; print ready:'
while zpty -r shell line; do [[ $line == *ready:$'\r'* ]] && break; done
zpty -w -n shell "lamina $1"$'\t\n'
while zpty -r shell line; do [[ $line == *got:*:* ]] && break; done
print -r -- ${${line#*got:}%%:*}
END
  check "zsh: a command" zsh_completes "mnist" "mn"
  check "  a flag" zsh_completes "mnist --norm" "mnist --nor"
  check "  its values" zsh_completes "mnist --norm layer" "mnist --norm la"
  check "  a command of a command" zsh_completes "attentive-reader show" "attentive-reader s"
  check "  files" zsh_completes "mnist --data script" "mnist --data scr"
else
  skipped=5
fi

check "the manual names every command" [ "$(grep -c '^\.SS ' lamina.1)" -ge "$("$lamina" list | wc -l)" ]
every_flag() {  # in --help of every command
  local command flag section missing=0
  for command in $("$lamina" list | cut -f1); do
    section=$(sed -n "/^\.SS lamina ${command//-/\\\\-}$/,/^\.SS lamina [^ ]*$/p" lamina.1)
    for flag in $("$lamina" "$command" --help | grep -oE '^  --[a-z-]+' | grep -v -- --help); do
      grep -qF -- "\\fB${flag//-/\\-}\\fR" <<<"$section" ||
        { echo "  $command $flag"; missing=1; }
      grep -qE "words='[^']*$flag " <(grep -E "^ +'$command'\) words=" script) || { echo "  completion: $command $flag"; missing=1; }
    done
  done
  return $missing
}
check "page and script have every flag of --help" every_flag
if command -v groff >/dev/null; then
  check "groff has nothing to say against it" [ -z "$(groff -man -ww -z lamina.1 2>&1)" ]
  groff -man -Tascii -P-cbou lamina.1 >shown 2>/dev/null
  check "and shows it" grep -q -- "--norm TEXT:{" shown
fi

# --- list and --help
order="demo stability invariance geometry order-embedding attentive-reader skip-thoughts draw handwriting mnist convnet"
check "list: the experiments in the paper's order" [ "$("$lamina" list | cut -f1 | head -11 | xargs)" = "$order" ]
check "  with the time that each takes" [ "$("$lamina" list | sed -n '2,13p' | grep -cE '\[(about [0-9]+ (s|min)|a few seconds)\]$')" = 12 ]
check "--help, too" [ "$("$lamina" --help | sed -n '/^Subcommands:/,$p' | awk 'NR > 1 && /^  [a-z]/ { print $1 }' | head -11 | xargs)" = "$order" ]

finish
