#!/usr/bin/env bash
# What `make demo` is about to do, and how long each part takes: printed before any of it begins.
#
#   tools/demo-plan.sh ARGUMENT...    those of make, which builds the program
set -euo pipefail
cd "$(dirname "$0")/.."

# Seconds of one core on an AMD EPYC: ten files on average (Zen 5), or ten groups of them (TOGETHER=1; on a slower one,
# Zen 3), and the training (Zen 5), of which two cores share most.
what=files seconds_of_ten=13
case " $* " in *" TOGETHER=1 "*) what="groups of files" seconds_of_ten=59 ;; esac
training_on_one_core=69
training_on_two_cores=46
cores=$(nproc)
files=$(env -u MAKEFLAGS make -n COUNTING=1 "$@" 2>/dev/null | grep -c "^echo '\[" || true)

on_cores() { [ "$cores" = 1 ] && echo "on 1 core" || echo "on $cores cores"; }
minutes() {  # minutes SECONDS
  local n=$((($1 + 59) / 60))
  [ "$n" = 1 ] && echo "about 1 minute" || echo "about $n minutes"
}
packages() {  # packages NAMES SIZES: what tools/install-deps.sh --plan says, in lines that fit
  local known=${2:-"apt-get has no lists yet; on a bare Debian 12: 133 packages, 107 MB, about 84 s and the download"}
  fold -s -w 77 <<<"$known ($1)" | sed 's/^/   /'
}

echo "make demo does three things; the times are estimates from an AMD EPYC:"
plan=$(tools/install-deps.sh --plan 2>/dev/null || true)
if [ -n "$plan" ]; then
  echo "1. installs Debian packages:"
  packages "$(head -n 1 <<<"$plan")" "$(sed -n 2p <<<"$plan")"
else
  echo "1. packages: all are installed"
fi
if [ "$files" -gt 0 ]; then
  echo "2. compiles $files $what: $(minutes $((files * seconds_of_ten / 10 / cores))) $(on_cores)"
else
  echo "2. compiling: all is built"
fi
echo "3. trains six small models: $(minutes $((cores > 1 ? training_on_two_cores : training_on_one_core))) $(on_cores)"
if command -v npm >/dev/null; then
  echo "After it, make report takes some seconds."
else
  echo "After it, make report installs npm first, and takes about a minute."
fi
