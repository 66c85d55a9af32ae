#!/usr/bin/env bash
# tools/bench/limits.py: the parts of a limit, from facts and rates that a stand-in for both programs gives.
source "$(dirname "$0")/../checks.sh"
top=$(dirname "$(dirname "$lamina")")
limits=$top/tools/bench/limits.py

# A million parameters (16 MB with gradient and moments), 5 GFLOP, 20 ms a step; and a machine with round rates.
cat >program <<'END'
#!/usr/bin/env python3
import sys
for line in sys.stdin:
    print('{"gflop": 5, "params": 1000000}' if line == "facts\n" else
          '{"gflops": 500, "exp": 10, "sigmoid": 10, "tanh": 5, "L2": 400, "L3": 200, "memory": 50}' if line == "again\n" else
          20, flush=True)
END
chmod +x program
"$limits" --program ./program --machine ./program --threads 2 --bursts 3 --burst 0.001 >table
check "every case, plain and with layer norm" [ "$(grep -cE '^\| [a-z_0-9]+ \| (none|ln) \| 5.0 \| 10.00 \|' table)" = 18 ]
# lstm: 819,200 cells; 3 sigmoids at 10 and 2 tanh at 5 a nanosecond are 0.57 ms; 6 numbers kept, 19.7 MB beside 16 MB: 10%
# are beyond L3. They move 4 x 19.7 MB + 32 MB.
check "gates, numbers and their sum" grep -qxF '| lstm | none | 5.0 | 10.00 | 0.57 | 0.72 | 10% | 0.00 | 11.30 | 20.00 | 56% | 50% |' table
check "layer norm keeps more and evaluates gates again" grep -qxF '| lstm | ln | 5.0 | 10.00 | 0.98 | 1.66 | 34% | 0.00 | 12.64 | 20.00 | 63% | 50% |' table
# handwriting: three layers with 400 x 1600 weights, 2.56 MB of L3, 1000 times; skip_thoughts: three with 69 MB of memory, 40 times.
check "weights that leave L2 are read again at every step" grep -qE '^\| handwriting \| none \|.* \| 38.40 \| [0-9.]+ \| 20.00 \|' table
check "and from memory where L3 is too small" grep -qE '^\| skip_thoughts \| none \|.* \| 165.89 \| [0-9.]+ \| 20.00 \|' table
check "the rates are shown" grep -qF 'gflops 500, exp 10, sigmoid 10, tanh 5, L2 400, L3 200, memory 50' table

(cd "$top" && built build/bench_steps && built build/bench_machine) || exit 1
"$top/build/bench_steps" --list >cases
for case in $(grep -oE '^\| [a-z_0-9]+ \| none' table | cut -d' ' -f2); do
  check "$case is a case of bench_steps" grep -qF "{\"case\":\"$case\",\"beside_pytorch\":[\"none\",\"ln\"" cases
done
"$top/build/bench_machine" --threads 1 >rates
check "bench_machine: a line with all rates" \
  grep -qE '^\{"threads":1,"gflops":[0-9.]+,"exp":[0-9.]+,"sigmoid":[0-9.]+,"tanh":[0-9.]+,"L2":[0-9.]+,"L3":[0-9.]+,"memory":[0-9.]+\}$' rates
check "and one for each line on its input" \
  [ "$(printf 'again\nagain\n' | "$top/build/bench_machine" --threads 1 --bursts | wc -l)" = 2 ]
if "$limits" --case lstn >out 2>err; then refused=false; else refused=true; fi
check "an unknown case is refused" $refused
check "and named" grep -qF "invalid choice: 'lstn'" err
finish
