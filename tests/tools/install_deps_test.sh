#!/usr/bin/env bash
# tools/install-deps.sh, with stand-ins for the package tools that record their calls.
set -uo pipefail
cd "$(dirname "$0")/../.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

for tool in bash cat env fold grep head mktemp readlink rm sed tail tee; do ln -s "$(command -v "$tool")" "$scratch/$tool"; done
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
asks="apt-get -o Debug::NoLocking=1 install --assume-no --no-install-recommends"  # without root
calls_for() {  # the calls that install these packages, after saying how large they are
  printf 'apt-get update -qq\n%s %s\n' "$asks" "$1"
  printf 'apt-get install -y -q -o Dpkg::Use-Pty=0 --no-install-recommends %s' "$1"
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
check "--plan without apt's lists names it and installs nothing" 0 '^doctest-dev$' "$asks doctest-dev" --plan
stub apt-get "echo \"apt-get \$*\" >>$scratch/calls
if [[ \" \$* \" == *--assume-no* ]]; then
  echo '0 upgraded, 2 newly installed, 0 to remove and 130 not upgraded.'
  echo 'Need to get 12.5 kB/21 kB of archives.'
  echo 'After this operation, 3 MB of additional disk space will be used.'
elif [[ \" \$* \" == *' -y '* ]]; then
  printf '%s\n' 'Get:1 http://mirror a' 'Get:2 http://mirror b' noise 'Unpacking a ...' 'Unpacking b ...' 'Setting up a ...'
  [ -z \"\${BROKEN-}\" ] || { echo 'E: no space'; exit 100; }
  echo 'Setting up b ...'
fi"
size='2 packages, 12\.5 kB to download, 3 MB on the disk: about 6 s and the download'
check "--plan says how large it is, and how long it takes" 0 "^$size\$" "$asks doctest-dev" --plan
check "so does installing" 0 "^$size\$" "$(calls_for doctest-dev)"
for what in downloaded unpacked "set up"; do
  check "  which counts the packages $what" 0 "^\[2/2\] packages $what\$" "$(calls_for doctest-dev)"
done
export BROKEN=1
check "when apt-get fails, its own words" 1 '^E: no space$' "$(calls_for doctest-dev)"
unset BROKEN
stub apt-get "echo \"apt-get \$*\" >>$scratch/calls"
installed "$all python3-numpy"
check "--bench adds PyTorch and dlib" 0 '^Will install with apt-get: python3-torch libdlib-dev$' \
      "$(calls_for "python3-torch libdlib-dev")" --bench

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
