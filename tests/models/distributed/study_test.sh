#!/usr/bin/env bash
# models/distributed/study.py: runs that are there are used, but not for other epochs than theirs.
source "$(dirname "$0")/../../tools/checks.sh"
study=${lamina%/build/lamina}/models/distributed/study.py
python3 - <<'END'
import os, struct
os.makedirs("data")
for prefix in ("train", "t10k"):
    for name, magic, content in (("images-idx3", 2051, struct.pack(">III", 1, 28, 28) + bytes(784)), ("labels-idx1", 2049, struct.pack(">I", 1) + bytes(1))):
        open(f"data/{prefix}-{name}-ubyte", "wb").write(struct.pack(">I", magic) + content)
END
for norm in none batch-local batch-synchronized layer; do
  mkdir -p runs/$norm-1-seed1
  echo '{"settings": {"epochs": 2}}' >runs/$norm-1-seed1/config.json
  printf 'epoch,train_nll,test_nll,test_error\n2,0.5,0.25,0.125\n' >runs/$norm-1-seed1/metrics.csv
  touch runs/$norm-1-seed1/summary.md
done
all=("$study" --data data --out runs --seeds 1 --ranks 1)
"${all[@]}" --epochs 2 >out 2>err || broken err
check "runs that are there are in the table" grep -qF "| layer | 1 | 32 | 0.5000 (0.0000) | 0.2500 (0.0000) | 12.50 (0.00) |" out
check "of other epochs they are not" bash -c "! ${all[*]} --epochs 3 >out 2>err"
check "  which one line says" [ "$(cat err)" = "--epochs 3: the run in runs/none-1-seed1 has 2; name another folder with --out" ]
finish
