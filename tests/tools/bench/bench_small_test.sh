#!/usr/bin/env bash
# tools/bench_small.py and the programs that it lets take turns.
source "$(dirname "$0")/../checks.sh"
top=$(dirname "$(dirname "$lamina")")
(cd "$top" && built small-programs) || exit 1
small=$top/build/bench_small

for peer in "$small" "$top"/build/peers/*; do
  printf '0.001\n0.001\nfacts\n' | "$peer" --case mlp_b4 >answers
  check "$(basename "$peer"): milliseconds for each line of seconds" [ "$(grep -cE '^[0-9.]+$' answers)" = 2 ]
  check "  and facts, of a model as large as all" grep -qE '^\{"params": 1796010, "peak_rss_mb": [0-9.]+, "allocations": [0-9.]+\}$' answers
  for case in mlp mlp_b0 mlp_b-1 mlp_two rnn_b4; do
    if echo facts | "$peer" --case $case >out 2>err; then refused=false; else refused=true; fi
    check "  $case is refused" $refused
    check "  in one line" [ "$(wc -l <err)" = 1 ]
  done
done
for model in mlp lstm gru convnet transformer; do
  check "inference of $model takes nothing from the heap" \
    grep -q '"allocations": 0}' <(echo facts | "$small" --case ${model}_one)
done
check "another word is named" grep -qF "'soon' on standard input" <(echo soon | "$small" --case mlp_one 2>&1)

# A stand-in for PyTorch: 100 ms, the faster of two modes 50.
cat >python <<'END_OF_PYTHON'
#!/usr/bin/env python3
import sys
if sys.argv[1] == "-c": sys.exit(0)
for line in sys.stdin:
    print('{"params": 7}' if line.strip() == "facts" else 50 if "--jit" in sys.argv else 100, flush=True)
END_OF_PYTHON
chmod +x python
cell='[0-9.]+: (\*\*[0-9.]+\*\*|too noisy) \([0-9.]+ to [0-9.]+\)'
"$top/tools/bench_small.py" --python ./python --model gru --kind b4 one --starts 2 --bursts 4 --burst 0.001 >table
check "a row of a training step, PyTorch in its faster mode, dlib without the model" \
  grep -qE "^\| gru \| 4 \| [0-9.]+ \| 50000: .* \|( - \|)? $cell \|$" table
check "a row of inference with its allocations" grep -qE "^\| gru \| [0-9.]+ \| 0 \| 50000: .* \|( - \|)? $cell \|$" table
check "the sizes of all" grep -qE '^- gru: Lamina 295680, PyTorch 7, by hand 294912$' table
sed 's/ else 100/ else sys.exit(1) if "gru_b4" in sys.argv else 100/' python >dies && chmod +x dies
if "$top/tools/bench_small.py" --python ./dies --model gru --kind b1 b4 --starts 1 --bursts 2 --burst 0.001 >table 2>err
then refused=false; else refused=true; fi
check "a side that ends in the middle is named" grep -qE '^\./dies .* --case gru_b4 .* ended in the middle' err
check "  and the exit code is not 0" $refused
check "  but what was measured before it is shown" grep -qE '^\| gru \| 1 \| [0-9.]+ \| 50000: ' table
mkdir empty && cp "$small" empty
"$top/tools/bench_small.py" --python /bin/false --build empty --model mlp --kind one --starts 1 --bursts 2 --burst 0.001 >alone
check "without any peer Lamina alone, and it says so" grep -qF 'left out: PyTorch, dlib, by hand' alone
if "$top/tools/bench_small.py" --build nowhere >out 2>err; then refused=false; else refused=true; fi
check "a folder without the program is refused" $refused
check "  and named, with the remedy" grep -qF 'no bench_small in nowhere; `make small-programs` builds it' err
if [ -e "$top/build/peers/dlib" ] && /usr/bin/python3 -c 'import torch' 2>/dev/null; then
  "$top/tools/bench_small.py" --model convnet --kind one --starts 1 --bursts 8 --burst 0.001 >table
  check "beside the real peers" grep -qE "^\| convnet \| [0-9.]+ \| 0 \| $cell \| $cell \| $cell \|$" table
else
  skipped=$((skipped + 1))
fi
finish
