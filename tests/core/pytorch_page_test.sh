#!/usr/bin/env bash
# The programs of core/PYTORCH.md: the C++ one builds, and where Python has PyTorch, weights make the round trip.
set -uo pipefail
cd "$(dirname "$0")/../.."
unset MAKEFLAGS MFLAGS MAKELEVEL
root=$PWD

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0 skipped=0
check() {  # check TITLE COMMAND...
  local title=$1
  shift
  if "$@" >"$scratch/log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s: %s\n' "$title" "$*"
    cat "$scratch/log"
  fi
}
build() {
  make -s build/liblamina.a &&
    ${CXX:-g++} -std=c++20 -fopenmp -I"$root" "$scratch/model.cpp" build/liblamina.a -lopenblas -o "$scratch/model"
}
small() {  # small COMMAND...: two numbers below 1e-5
  "$@" >"$scratch/numbers" && cat "$scratch/numbers" &&
    awk '{ good = NF == 2 && $1 + 0 < 1e-5 && $2 + 0 < 1e-5 } END { exit !good }' "$scratch/numbers"
}

# The blocks below <!-- save as: NAME -->.
awk -v dir="$scratch" '
  /^<!-- save as: .* -->$/ { name = $4; next }
  /^```/ && name != "" && !inside { inside = 1; out = dir "/" name; next }
  /^```/ { inside = 0; name = ""; next }
  inside { print > out }' core/PYTORCH.md

# Debian's PyTorch belongs to Debian's own Python, not to one from elsewhere.
for python in /usr/bin/python3 python3 ''; do
  [ -z "$python" ] || "$python" -c 'import numpy, torch' 2>/dev/null && break
done

# Layers of the table that model.py lacks, and layers that the table lacks.
cat >"$scratch/others.py" <<'END'
from weights import *

def some(seed):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.GroupNorm(2, 4), nn.BatchNorm1d(4), nn.LayerNorm(4), nn.Linear(4, 3, bias=False),
                          nn.Linear(3, 4), nn.Conv2d(2, 3, 2, bias=False), nn.Conv2d(3, 2, 2))
    for values in model.state_dict().values(): values.copy_(torch.rand(values.shape) * 9)
    return model

def refused(action, *arguments):
    try: action(*arguments)
    except AssertionError as error: return str(error)

one, other = some(1), some(2)
from_lamina(to_lamina(one), other)
assert all(torch.equal(v, other.state_dict()[k]) for k, v in one.state_dict().items() if "num_batches" not in k)
for layer in (nn.Conv1d(2, 3, 1), nn.PReLU()):
    assert refused(to_lamina, nn.Sequential(layer)) == f"0: {type(layer).__name__} is not in the table"
    assert refused(from_lamina, {}, nn.Sequential(layer)) == f"0: {type(layer).__name__} is not in the table"
assert refused(to_lamina, nn.Sequential(nn.LSTM(2, 3, num_layers=2))).startswith("0: one layer in one direction")
attention = nn.Sequential(nn.MultiheadAttention(4, 2, add_bias_kv=True))
assert refused(to_lamina, attention).startswith("0: one in_proj with biases")
assert refused(from_lamina, {}, attention).startswith("0: one in_proj with biases")
for lacks in ({"groups": 2}, {"dilation": 2}, {"padding_mode": "reflect"}):
    for action, arguments in ((to_lamina, ()), (from_lamina, ({},))):
        assert refused(action, *arguments, nn.Sequential(nn.Conv2d(4, 4, 3, **lacks))).startswith("0: groups, dilation")
assert refused(to_lamina, nn.Sequential(nn.LayerNorm(4, elementwise_affine=False))).startswith("0: a LayerNorm without")
with_bias, without = nn.Sequential(nn.Linear(4, 3)), nn.Sequential(nn.Linear(4, 3, bias=False))
assert refused(from_lamina, to_lamina(with_bias), without).startswith("0: a Linear without ['bias']")
of_batches = to_lamina(nn.Sequential(nn.BatchNorm1d(4)))
for lacks in ({"affine": False}, {"track_running_stats": False}):
    assert refused(from_lamina, of_batches, nn.Sequential(nn.BatchNorm1d(4, **lacks))).startswith("0: a BatchNorm1d without")
END

check "the C++ program builds" build
cd "$scratch" || exit 1
if [ -z "$python" ]; then
  echo "skipped weights there and back: no python3 with numpy and torch"
  skipped=1
else
  check "PyTorch writes weights" "$python" export.py
  check "layers that the table lacks are refused" "$python" others.py
  check "Lamina computes the same with them" small ./model
  check "PyTorch computes the same with Lamina's" small "$python" import.py
fi

[ "$skipped" = 0 ] && tail= || tail=", $skipped skipped"
echo "$passed passed, $failed failed$tail"
[ "$failed" = 0 ]
