#!/usr/bin/env bash
# tools/compare-builds: two programs take turns, and the table has a ratio or says that it has none.
source "$(dirname "$0")/../checks.sh"
top=$(dirname "$(dirname "$lamina")")
(cd "$top" && built build/bench_steps) || exit 1
steps=$top/build/bench_steps

"$top/tools/compare-builds" "$steps" "$steps" --case mnist_mlp_b4 --variant none --processes 2 --bursts 6 --burst 0.01 --threads 1 >table
check "a program against itself: a row with both times, a verdict and an interval" \
  grep -qE '^\| mnist_mlp_b4 \| none \| [0-9.]+ \| [0-9.]+ \| ([0-9.]+|too noisy) \| [0-9.]+ to [0-9.]+ \|$' table
check "bursts: a line of milliseconds for each line of seconds" \
  [ "$(printf '0.01\n0.01\n' | "$steps" --case mnist_mlp_b4 --threads 1 --bursts | grep -cE '^[0-9.]+$')" = 2 ]
"$steps" --list >cases
check "the list of cases names those that PyTorch's script has, too" \
  grep -qxF '{"case":"lstm","beside_pytorch":["none","ln"],"alone":[]}' cases
for script in bench.py compare-builds; do
  arguments=$([ $script = bench.py ] && echo "--program $steps" || echo "$steps $steps")
  # shellcheck disable=SC2086
  if "$top/tools/$script" $arguments --case lstn >out 2>err; then refused=false; else refused=true; fi
  check "$script: an unknown case is refused" $refused
  check "$script: and named, with those that there are" grep -qF 'no case lstn; there are mnist_mlp_b128, ' err
done
if "$steps" --case lstm --variant bn --seconds 0.1 >out 2>err; then refused=false; else refused=true; fi
check "a variant that a case lacks is refused, not timed as another" $refused
check "and named" grep -qF "case 'lstm' has no variant 'bn'; --list shows them" err
if "$top/tools/compare-builds" "$steps" /bin/true >out 2>err; then refused=false; else refused=true; fi
check "a program without a list is refused" $refused
check "and named, in one line" grep -qxF '/bin/true does not list its cases; `make build/bench_steps` builds one that does' err
if "$top/tools/compare-builds" /bin/true "$steps" --case mnist_mlp_b4 --variant none >out 2>err; then refused=false; else refused=true; fi
check "a program that cannot do it is named" grep -qF '/bin/true ended' err
check "and the exit code is not 0" $refused
finish
