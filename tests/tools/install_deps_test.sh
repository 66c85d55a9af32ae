#!/usr/bin/env bash
# tools/install-deps.sh, with stand-ins for the package tools that record their calls.
set -uo pipefail
cd "$(dirname "$0")/../.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

for tool in bash cat env readlink; do ln -s "$(command -v "$tool")" "$scratch/$tool"; done
stub() {  # stub NAME BODY
  printf '#!%s/bash\n%s\n' "$scratch" "$2" >"$scratch/$1"
  chmod +x "$scratch/$1"
}
installed() { stub dpkg-query "[[ \" $* \" == *\" \${!#} \"* ]] && echo installed"; }
user() { stub id "echo $1"; }
check() {  # check TITLE EXIT-CODE PATTERN-IN-OUTPUT EXPECTED-CALLS OPTION...
  local title=$1 code=$2 pattern=$3 calls=$4 output actual
  shift 4
  : >"$scratch/calls"
  output=$(PATH=$scratch "$scratch/bash" tools/install-deps.sh "$@" 2>&1)
  actual=$?
  if [ "$actual" = "$code" ] && grep -qE "$pattern" <<<"$output" && [ "$(cat "$scratch/calls")" = "$calls" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s: exit code %s\n%s\ncalls: %s\n' "$title" "$actual" "$output" "$(cat "$scratch/calls")"
  fi
}

all="g++ make pkg-config libopenblas-openmp-dev doctest-dev libcli11-dev nlohmann-json3-dev zlib1g-dev"
all+=" libpugixml-dev libcpp-httplib-dev gnuplot-nox graphviz"
install_calls=$'apt-get update -qq\napt-get install -y -qq --no-install-recommends'
stub gcc 'echo no-such-machine'
user 0

installed "$all"
check "without apt-get lists what is needed" 1 'OpenBLAS built for OpenMP' ''
stub apt-get "echo \"apt-get \$*\" >>$scratch/calls"
check "does nothing, and needs no network, when all is there" 0 '^Nothing to install' ''
check "refuses unknown options" 2 '^usage' '' --everything
installed "${all/ doctest-dev/}"
check "installs only what is missing, and says so first" 0 '^Will install with apt-get: doctest-dev$' \
      "$install_calls doctest-dev"
installed "$all python3-numpy"
check "--bench adds PyTorch" 0 '^Will install with apt-get: python3-torch$' "$install_calls python3-torch" --bench

installed "$all"
check "--slides adds pandoc" 0 '^Will install with apt-get: pandoc$' "$install_calls pandoc" --slides
check "--report adds Debian's npm" 0 '^Will install with apt-get: nodejs npm$' "$install_calls nodejs npm" --report
stub npm true && stub node true
check "--report leaves another npm alone" 0 '^Nothing to install' '' --report

user 1000
installed "${all/ doctest-dev/}"
check "without root and sudo says what to do" 1 '^Installing needs root.*apt-get install doctest-dev$' ''
stub sudo 'exec "$@"'
check "uses sudo" 0 '^Will install' "$install_calls doctest-dev"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
