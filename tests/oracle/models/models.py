#!/usr/bin/python3
"""Computes again, from the paper and with numpy in float64, what the experiments write into their CSV files.

Each experiment trains for some updates on a few cases in the format of its original files. A file here reads these
cases, the weights that the run has saved and nothing else of Lamina, and says what the rows must be: losses, errors,
ranks and bits to a relative 1e-5, DRAW's bound within five standard errors of its noise. In the end every number that
was compared is made wrong in turn, which must be found; and each column of metrics.csv must have been compared, but for
those that a file here lists as UNCHECKED.

    tests/oracle/models/models.py build/lamina                # all
    tests/oracle/models/models.py build/lamina draw mnist     # some
"""
import argparse
import importlib
import os
import pathlib
import subprocess
import sys
import tempfile

EXPERIMENTS = sorted({path.stem for path in pathlib.Path(__file__).parent.glob("*.py")} - {"models", "common"})

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("lamina", help="the command")
parser.add_argument("experiment", nargs="*", help="by default all: " + ", ".join(EXPERIMENTS))
options = parser.parse_args()
if set(options.experiment) - set(EXPERIMENTS):
    parser.error("no such experiment; there are " + ", ".join(EXPERIMENTS))
chosen = options.experiment or EXPERIMENTS
for threads in "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS":
    os.environ[threads] = "1"  # products are small, and threads would only wait for one another
try:
    import numpy as np
except ImportError:
    print("models: this Python has no numpy, all experiments are skipped")
    print(f"0 passed, 0 failed, {len(chosen)} skipped")
    sys.exit(0)

from common import Check, Run


def train(module, flags, periods, data, folder):
    command = [options.lamina, module.COMMAND, "--preset", "small", "--threads", "1", "--data", data, "--out", folder]
    command += [flag.format(periods) for flag in flags]
    # Without gnuplot there is no figure to wait for.
    ended = subprocess.run(command, env=os.environ | {"PATH": "/nonexistent"}, capture_output=True, text=True)
    if ended.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: {ended.stderr}")


def runs_of(module, folder):
    """All variants, each trained twice, once for a period less."""
    data = folder / "data"
    data.mkdir()
    module.write(data, np.random.default_rng(1))
    for number, flags in enumerate(module.RUNS):
        shorter, longer = (folder / f"{number}-{name}" for name in ("shorter", "longer"))
        train(module, flags, module.PERIODS, data, longer)
        if getattr(module, "TWICE", True):
            train(module, flags, module.PERIODS - 1, data, shorter)
        for model in sorted(longer.rglob("model.safetensors")):
            variant = model.parent.relative_to(longer)
            yield f"{number + 1}, {variant}", Run(data, shorter / variant, longer / variant)


def planted(check):
    """The check's columns whose number may be wrong by 1e-4, or by twice what is allowed, without being found."""
    for i, column in enumerate(check.columns):
        step = 2 * check.within[i] if check.within else 1e-4 * abs(check.row[column]) + 1e-4
        wrong = check.row | {column: check.row[column] + step}
        if max(Check(wrong, check.columns, check.choices, check.within).differences()) <= 1:
            yield column


passed = failed = numbers = 0
for name in chosen:
    module = importlib.import_module(name)
    columns, compared = set(), {"epoch", "step", "seconds", *getattr(module, "UNCHECKED", [])}
    with tempfile.TemporaryDirectory() as folder:
        for variant, run in runs_of(module, pathlib.Path(folder)):
            wrong = []
            columns |= set(list(run.last())[1:])  # the first one counts periods
            for check in module.checks(run):
                compared |= set(check.columns)
                differences = check.differences()
                numbers += len(differences)
                wrong += [f"{column} is {check.row[column]:.9g}, off by {difference:.2g} of what is allowed"
                          for column, difference in zip(check.columns, differences) if not difference <= 1]
                wrong += [f"a wrong {column} is not found" for column in planted(check)]
            passed, failed = passed + (not wrong), failed + bool(wrong)
            for line in wrong:
                print(f"FAILED  {name} {variant}: {line}", flush=True)
    for column in sorted(columns - compared):
        failed += 1
        print(f"FAILED  {name}: nothing is compared with {column}", flush=True)
print(f"{numbers} numbers of {passed + failed} variants compared")
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
