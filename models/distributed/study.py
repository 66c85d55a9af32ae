#!/usr/bin/env python3
"""What each norm makes of a batch of 32 that is divided among 1, 2, 4 and 8 ranks.

    models/distributed/study.py --data data/mnist --out runs/ranks

Trains the permutation-invariant MNIST model on the first 6400 training images, with the 5000 of validation and the first
2000 test images: without normalization, with batch norm on each rank's own cases, with batch norm on those of all ranks,
and with layer norm. Prints a table: mean and, in brackets, sample standard deviation over the seeds. Runs that are in
--out already are not repeated; other --epochs than theirs are refused.
"""
import argparse
import csv
import gzip
import json
import os
import statistics
import struct
import subprocess
import sys

VARIANTS = {
    "none": ["--norm", "none"],
    "batch, local": ["--norm", "batch"],
    "batch, synchronized": ["--norm", "batch", "--sync-batch-norm"],
    "layer": ["--norm", "layer"],
}
TRAINING, VALIDATION, TEST, PIXELS = 6400, 5000, 2000, 784


def read(folder, name):
    path = os.path.join(folder, name)
    with (open(path, "rb") if os.path.exists(path) else gzip.open(path + ".gz", "rb")) as file:
        return file.read()


def write_part(source, target):
    """The cases of the study as MNIST's own files."""
    os.makedirs(target, exist_ok=True)
    for prefix, ranges in {"train": [(0, TRAINING), (-VALIDATION, None)], "t10k": [(0, TEST)]}.items():
        for name, size, header in (("images-idx3", PIXELS, 16), ("labels-idx1", 1, 8)):
            content = read(source, f"{prefix}-{name}-ubyte")
            cases = content[header:]
            kept = b"".join(cases[begin * size:None if end is None else end * size] for begin, end in ranges)
            head = content[:4] + struct.pack(">I", len(kept) // size) + content[8:header]
            with open(os.path.join(target, f"{prefix}-{name}-ubyte"), "wb") as file:
                file.write(head + kept)


def train(flags, data, ranks, seed, epochs, out):
    command = ["build/lamina", "mnist", *flags, "--batch", "32", "--preset", "small", "--data", data, "--seed", str(seed),
               "--epochs", str(epochs), "--out", out]
    if ranks > 1:
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        command = ["mpirun", "--quiet", *root, "--oversubscribe", "--bind-to", "none", "-n", str(ranks), *command]
    done = subprocess.run(command, env=dict(os.environ, LAMINA_THREADS="1"), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")


def is_there(folder, epochs):
    """Whether a run has finished here, which must be one of so many epochs."""
    if not os.path.exists(os.path.join(folder, "summary.md")):
        return False
    with open(os.path.join(folder, "config.json")) as file:
        began = json.load(file)["settings"]["epochs"]
    if began != epochs:
        sys.exit(f"--epochs {epochs}: the run in {folder} has {began}; name another folder with --out")
    return True


def last_row(folder):
    with open(os.path.join(folder, "metrics.csv")) as file:
        return {name: float(value) for name, value in list(csv.DictReader(file))[-1].items()}


def cell(numbers, form):
    spread = statistics.stdev(numbers) if len(numbers) > 1 else 0
    return f"{form % statistics.mean(numbers)} ({form % spread})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="folder with MNIST's files")
    parser.add_argument("--out", required=True, help="folder of the runs")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--ranks", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2, 4, 8])
    options = parser.parse_args()
    part = os.path.join(options.out, "data")
    write_part(options.data, part)
    print("| norm | ranks | cases a rank | training loss, last epoch | test loss | test error, % |")
    print("|---|---|---|---|---|---|")
    for name, flags in VARIANTS.items():
        for ranks in options.ranks:
            rows = []
            for seed in range(1, options.seeds + 1):
                folder = os.path.join(options.out, f"{name.replace(', ', '-')}-{ranks}-seed{seed}")
                if not is_there(folder, options.epochs):
                    train(flags, part, ranks, seed, options.epochs, folder)
                rows.append(last_row(folder))
            print(f"| {name} | {ranks} | {32 // ranks} |", " | ".join([
                cell([row["train_nll"] for row in rows], "%.4f"), cell([row["test_nll"] for row in rows], "%.4f"),
                cell([100 * row["test_error"] for row in rows], "%.2f")]), "|", flush=True)


main()
