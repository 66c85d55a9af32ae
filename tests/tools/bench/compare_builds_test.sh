#!/usr/bin/env bash
# tools/compare-builds and tools/bench.py: programs take turns, and the table has a ratio or says that it has none.
source "$(dirname "$0")/../checks.sh"
top=$(dirname "$(dirname "$lamina")")
(cd "$top" && built build/bench_steps) || exit 1
steps=$top/build/bench_steps

"$top/tools/compare-builds" "$steps" "$steps" --case mnist_mlp_b4 --variant none --processes 2 --bursts 6 --burst 0.01 --threads 1 >table
check "a program against itself: a row with both times, a ratio and both peaks, without an interval of two processes" \
  grep -qE '^\| mnist_mlp_b4 \| none \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| too few processes \| [0-9.]+ \| [0-9.]+ \|$' table
check "the statistics on made-up times, and OpenBLAS's core" python3 "$top/tests/tools/bench/bench_turns_test.py"
core_of() { "$@" "$lamina" --version | sed 's/.*OpenBLAS core \([A-Za-z0-9]*\).*/\1/'; }
OPENBLAS_CORETYPE=Prescott "$lamina" --version >narrow
remedy=$(sed -n 's/.*narrower vectors than this CPU: set \(OPENBLAS_CORETYPE=[A-Za-z]*\).*/\1/p' narrow)
if grep -q 'core Prescott' narrow && grep -qE '(256|512)-bit' narrow; then
  check "an OpenBLAS with narrower vectors than the CPU's: --version says so" [ -n "$remedy" ]
  check "  with a remedy after which it does not" test -z "$(env "$remedy" "$lamina" --version | grep narrower)"
  check "benchmarks take no such core" [ "$(core_of env OPENBLAS_CORETYPE=Prescott "$top/tools/bench_turns.py")" != Prescott ]
else
  skipped=$((skipped + 3))
fi
check "bursts: a line of milliseconds for each line of seconds" \
  [ "$(printf '0.01\n0.01\n' | "$steps" --case mnist_mlp_b4 --threads 1 --bursts | grep -cE '^[0-9.]+$')" = 2 ]
printf 'peak\nfacts\n' | "$steps" --case mnist_mlp_b4 --variant ln --threads 1 --bursts >answers
check "peak: GFLOP/s, facts: JSON" grep -qE '^[0-9.]+$' answers
check "and the case in it" grep -qE '^\{"case":"mnist_mlp_b4","variant":"ln",.*"peak_rss_mb":[0-9.]+,' answers
gflop_of() { echo facts | "$steps" --case "$1" --bursts | grep -o '"gflop":[0-9.]*'; }
# 2 FLOP x 1024 columns x 32 cases x (2 x 128 inputs x 100 steps + 3 x 256 states x 99 steps)
check "gflop: the zeros that a recurrent layer starts from are not multiplied" [ "$(gflop_of lstm)" = '"gflop":6.661' ]
# 2 FLOP x 128 x 3072 columns x (3 x 300 inputs x 15 steps + 3 x 1024 states x 14 steps), and an image's 4096 x 1024 twice
check "  nor in the words of order embeddings" [ "$(gflop_of order_embedding)" = '"gflop":46.587' ]
# 2 FLOP x 128 x (28 x (134 + 140) x 5 x 32 + 3 x 14 x 64 x 5 x 32 x 64 + 3 x (3136 x 512 + 5120))
check "  nor rows of padding" [ "$(gflop_of convnet)" = '"gflop":8.598' ]
python3 - "$steps" >peak <<'END'
import subprocess, sys
held = bytearray(b"1") * 300_000_000
print(subprocess.run([sys.argv[1], "--case", "transformer_small", "--threads", "1", "--bursts"], input="facts\n", text=True, capture_output=True).stdout)
END
check "peak_rss_mb is not that of a larger process that starts it" grep -qE '"peak_rss_mb":[0-9]{2}\.' peak
if echo soon | "$steps" --case mnist_mlp_b4 --threads 1 --bursts >out 2>err; then refused=false; else refused=true; fi
check "any other word is refused" $refused
check "and named" grep -qF "'soon' on standard input is neither a number of seconds nor peak nor facts" err

# A stand-in for PyTorch: answers bursts with 100 ms, or in turn with 100 and 200.
cat >python <<'END'
#!/usr/bin/env python3
import sys
if sys.argv[1] == "-c": sys.exit(0)
count, slow = 0, 2 if "gru" in sys.argv else 1
for line in sys.stdin:
    count += 1
    print('{"peak_rss_mb": 300}' if line.strip() == "facts" else 100 * (slow if count % 2 else 1), flush=True)
END
chmod +x python && touch peer
"$top/tools/bench.py" --program "$steps" --python ./python --peer peer --case mnist_mlp_b4 --bursts 8 --burst 0.001 --threads 1 --json bench.json >table
check "bench.py: a row for each variant, with both times, ratio, interval and memory" \
  [ "$(grep -cE '^\| mnist_mlp_b4 \| (none|ln|bn|wn) \| [0-9.]+ \| 100.00 \| ([0-9.]+|too noisy) \| [0-9.]+ to [0-9.]+ \| [0-9]+% \| [0-9.]+ \| [0-9]+ \| 300 \|$' table)" = 4 ]
check "and the same as JSON" grep -qF '"bursts": 8' bench.json
"$top/tools/bench.py" --program "$steps" --python ./python --peer peer --case gru --bursts 8 --burst 0.001 --threads 1 --json noisy.json >table
check "bench.py: all variants that PyTorch has" [ "$(grep -c '^| gru | ' table)" = 2 ]
"$top/tools/bench.py" --program "$steps" --python ./python --peer peer --case gru lstm --variant ln --bursts 2 --burst 0.001 --threads 1 >one
rows=$(grep -oE '^\| (gru|lstm) \| [a-z]+ ' one | tr -d '\n')
check "bench.py: an interval of two bursts is none" grep -qE '^\| gru \| ln \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| too few bursts \|' one
check "bench.py: or only those that are named" [ "$rows" = "| gru | ln | lstm | ln " ]
if "$top/tools/bench.py" --program "$steps" --case gru --variant wn >out 2>err; then refused=false; else refused=true; fi
check "bench.py: a variant that no case has is refused" $refused
check "and named" grep -qF 'gru: no variant wn beside PyTorch' err
check "bench.py: a ratio whose interval is wide is none" grep -qE '^\| gru \| none \| [0-9.]+ \| [0-9.]+ \| too noisy \|' table
check "and the file says so" grep -qF '"too_noisy": true' noisy.json
"$top/tools/bench.py" --program "$steps" --python /bin/false --case mnist_mlp_b4 --bursts 2 --burst 0.001 --threads 1 >table
check "bench.py: without PyTorch Lamina alone, and it says so" grep -qF 'only Lamina is timed in mnist_mlp_b4' table
check "and why" grep -qF '/bin/false has no torch (Debian: python3-torch; --python): only' table
"$top/tools/bench.py" --program "$steps" --python ./nowhere --case mnist_mlp_b4 --variant none --bursts 2 --burst 0.001 --threads 1 >table
check "and without the interpreter" grep -qF './nowhere has no torch (Debian: python3-torch; --python): only' table
printf '#!/bin/sh\n[ "$1" = -c ] || { read -r _; echo loading; }\n' >talks && chmod +x talks
if "$top/tools/bench.py" --program "$steps" --python ./talks --peer peer --case mnist_mlp_b4 --variant none --bursts 2 --burst 0.001 >out 2>err
then refused=false; else refused=true; fi
check "bench.py: an answer that is no number is refused" $refused
check "and shown, in one line" grep -qE "^\./talks .* says 'loading' in place of milliseconds; run it by hand$" err
"$top/tools/bench.py" --program "$steps" --python ./python --peer nowhere --case mnist_mlp_b4 --bursts 2 --burst 0.001 --threads 1 >table
check "bench.py: without PyTorch's script as well" grep -qF 'nowhere, a script with these models in PyTorch, is not part of Lamina and missing (--peer FILE names another one): only Lamina is timed in mnist_mlp_b4' table
cat >loops <<'END'
#!/usr/bin/env python3
import sys
if sys.argv[1] == "-c": sys.exit(0)
for line in sys.stdin:
    print('{"peak_rss_mb": 300}' if line.strip() == "facts" else 50 if {"none-cell", "--jit"} <= {*sys.argv} else 100, flush=True)
END
chmod +x loops
"$top/tools/bench.py" --program "$steps" --python ./loops --peer peer --case gru --variant none --bursts 2 --burst 0.001 --threads 1 >table
check "bench.py: a plain recurrent layer is timed as PyTorch's loop, too" grep -qE '^\| gru \| none \| [0-9.]+ \| 50.00 \|' table
sed -e 's/{"none-cell", "--jit"} <= {\*sys.argv}/sys.argv[sys.argv.index("--variant") + 1] != "ln"/' -e 's/else 100/else sys.exit(1)/' loops >dies && chmod +x dies
if "$top/tools/bench.py" --program "$steps" --python ./dies --peer peer --case gru --bursts 2 --burst 0.001 --threads 1 >table 2>err
then refused=false; else refused=true; fi
check "bench.py: a side that ends in the middle is named" grep -qE '^\./dies .* --variant ln .* ended in the middle' err
check "and the exit code is not 0" $refused
check "but what was measured before it is shown" grep -qE '^\| gru \| none \| [0-9.]+ \| 50.00 \|' table
cat >new_steps <<'END'
#!/bin/sh
[ "$1" = --list ] && echo '{"case":"new","beside_pytorch":["ln"],"alone":[]}' && exit
while read -r word; do
  [ "$word" = facts ] && echo '{"gflop":1,"peak_rss_mb":1,"backend":""}' || echo 10
done
END
chmod +x new_steps && sed -i 's/100 \* (slow if count % 2 else 1)/50 if "--jit" in sys.argv else 100/' python
"$top/tools/bench.py" --program ./new_steps --python ./python --peer peer --bursts 2 --burst 0.001 --threads 1 >table
check "bench.py: a new case is timed in both of PyTorch's modes" grep -qF '| new | ln | 10.00 | 50.00 | 5.00 |' table
mkdir no_torch && echo 'def set_num_threads(count): pass
set_flush_denormal = manual_seed = set_num_threads' >no_torch/torch.py && echo 'CASES = {"lstm": None, "gru": None}' >two.py
if PYTHONPATH=no_torch "$top/tools/peers/torch_turns.py" two.py --case new >out 2>err; then refused=false; else refused=true; fi
check "a case that PyTorch's script does not have is refused" $refused
check "in a line with those that it has and where to name another script" \
  [ "$(cat err)" = "two.py has no case new, only lstm, gru; for a script of its own a case stands in OWN_PEERS of tools/bench.py" ]
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
check "a program that cannot do it is named" grep -qE '^/bin/true .* ended in the middle' err
check "and the exit code is not 0" $refused
if "$top/tools/compare-builds" ./nowhere "$steps" --case mnist_mlp_b4 >out 2>err; then refused=false; else refused=true; fi
check "a program that is not there is refused" $refused
check "and named, in one line" grep -qxF './nowhere: No such file or directory' err
for flag in --processes --bursts --burst; do
  if "$top/tools/compare-builds" ./new_steps ./new_steps $flag 0 >out 2>err; then refused=false; else refused=true; fi
  check "$flag 0, which would compare nothing, is refused" $refused
  check "and named" grep -qF -- "error: --processes and --bursts are at least 1" err
done
# Every other process takes 3.2 ms in place of 2.8, where the other program takes 10: 0.28 to 0.32.
cat >fast_steps <<'END'
#!/bin/sh
[ "$1" = --list ] && exec ./new_steps --list
echo >>started
while read -r _; do echo $((28 + 4 * ($(wc -l <started) % 2)))e-1; done
END
chmod +x fast_steps
"$top/tools/compare-builds" ./new_steps ./fast_steps --variant ln --processes 6 --bursts 2 --burst 0.001 >table
check "5% are those of the ratio" grep -qxE '\| new \| ln \| 10\.00 \| 2\.80 \| too noisy \| 0\.280 to 0\.320 \| [0-9.]+ \| [0-9.]+ \|' table
# Takes 60 MB for its first burst.
cat >large_steps <<'END'
#!/usr/bin/env python3
import sys
for line in sys.stdin:
    bytearray(60_000_000)
    print(10, flush=True)
END
chmod +x large_steps
"$top/tools/compare-builds" ./large_steps ./new_steps --variant ln --processes 1 --bursts 2 --burst 0.001 >table
check "the peak of a program that needs more, after it has given it back" \
  awk -F '|' '/^\| new /{ exit !($8 > 60 && $8 < 120 && $9 > 0 && $9 < 10) }' table
finish
