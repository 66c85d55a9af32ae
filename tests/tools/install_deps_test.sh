#!/usr/bin/env bash
# tools/install-deps.sh, with stand-ins for the package tools that record their calls.
set -uo pipefail
cd "$(dirname "$0")/../.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

for tool in bash cat env grep readlink; do ln -s "$(command -v "$tool")" "$scratch/$tool"; done
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
calls_for() {  # the calls that install these packages, after saying how large they are
  printf 'apt-get update -qq\napt-get install --assume-no --no-install-recommends %s\n' "$1"
  printf 'apt-get install -y -qq --no-install-recommends %s' "$1"
}
stub gcc 'echo no-such-machine'
user 0

installed "$all"
check "without apt-get lists what is needed" 1 'OpenBLAS built for OpenMP' ''
stub apt-get "echo \"apt-get \$*\" >>$scratch/calls"
check "does nothing, and needs no network, when all is there" 0 '^Nothing to install' ''
check "refuses unknown options" 2 '^usage' '' --everything
installed "${all/ doctest-dev/}"
check "installs only what is missing, and says so first" 0 '^Will install with apt-get: doctest-dev$' \
      "$(calls_for doctest-dev)"
check "--missing lists it and installs nothing" 0 '^doctest-dev$' '' --missing
stub apt-get "echo \"apt-get \$*\" >>$scratch/calls; [[ \" \$* \" != *--assume-no* ]] || echo 'Need to get 12 kB of archives.'"
check "says how much is downloaded" 0 '^Need to get 12 kB' "$(calls_for doctest-dev)"
stub apt-get "echo \"apt-get \$*\" >>$scratch/calls"
installed "$all python3-numpy"
check "--bench adds PyTorch" 0 '^Will install with apt-get: python3-torch$' "$(calls_for "python3-torch")" --bench

installed "$all"
check "--slides adds pandoc" 0 '^Will install with apt-get: pandoc$' "$(calls_for "pandoc")" --slides
check "--report adds Debian's npm" 0 '^Will install with apt-get: nodejs npm$' "$(calls_for "nodejs npm")" --report
stub npm true && stub node true
check "--report leaves another npm alone" 0 '^Nothing to install' '' --report

user 1000
installed "${all/ doctest-dev/}"
check "without root and sudo says what to do" 1 '^Installing needs root.*apt-get install doctest-dev$' ''
stub sudo 'exec "$@"'
check "uses sudo" 0 '^Will install' "$(calls_for "doctest-dev")"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
