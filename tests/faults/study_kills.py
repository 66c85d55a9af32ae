#!/usr/bin/env python3
"""Kills `lamina study` at random moments while twelve tiny runs go on, and compares the end with an undisturbed study's.

    tests/faults/study_kills.py [--kills 20] [--seed 1] [--scratch FOLDER]

Every run must end bit for bit as in the undisturbed study, nothing may be trained twice, and no file may be broken. Of each
four kills one is of the study alone, whose runs then save and end; one of everything at once, as a power cut is; one is
Ctrl-C and one SIGTERM. Ends with "N passed, N failed".
"""

import argparse
import collections
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from runs import ENVIRONMENT, LAMINA, broken_files, result_of, unfinished_files

STUDY = {
    "experiment": "mnist",
    "settings": {"preset": "small", "epochs": 3, "record": "every=4"},
    "variants": [{"norm": ["none", "layer"], "batch": [64, 16]}, {"norm": ["batch", "weight"], "batch": 32}],
    "seeds": [1, 2],
}
RUNS = 12


def start(file, folder):
    return subprocess.Popen([str(LAMINA), "study", str(file), "--out", str(folder), "--jobs", "3"],
                            env={**ENVIRONMENT, "LAMINA_SMOKE": "3"}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, errors="replace")


def processes_in(folder):
    """Ids of the processes that train in a folder now."""
    found = []
    for lock in Path(folder).glob("*/lock"):
        try:
            found.append(int(lock.read_text()))
        except (OSError, ValueError):
            pass
    return found


def kill_all(process, folder):
    """The study and its runs, none of which can save."""
    process.kill()
    for child in processes_in(folder):
        try:
            os.kill(child, signal.SIGKILL)
        except ProcessLookupError:
            pass


def still_alive(folder):
    return {child for child in processes_in(folder) if Path(f"/proc/{child}").exists()}


def results(folder):
    """Of each file of each run what must be equal at the end of two studies. Logs tell of interruptions."""
    return {f"{run.name}/{name}": content for run in sorted(Path(folder).iterdir()) if run.is_dir()
            for name, content in result_of(run).items() if name != "log.txt"}


def sessions(folder):
    """How often runs were begun or went on."""
    return sum(log.read_text(errors="replace").count("run folder: ") for log in Path(folder).glob("*/log.txt"))


def trained_twice(folder):
    """Epochs that a run's log reports more than once: a row is printed when its epoch has been saved."""
    twice = []
    for log in sorted(Path(folder).glob("*/log.txt")):
        epochs = collections.Counter(re.findall(r"epoch (\d+)/\d+:", log.read_text(errors="replace")))
        twice += [f"{log.parent.name}: epoch {epoch} was trained {times} times" for epoch, times in epochs.items() if times > 1]
    return twice


def ended_runs(folder):
    return {end.parent.name: (end.stat().st_mtime_ns, end.read_bytes()) for end in Path(folder).glob("*/outcome.json")}


def disturbed(file, folder, kills, generator, seconds):
    """What is wrong with a study that is killed so often."""
    wrong = []
    for number in range(kills):
        before, saving = ended_runs(folder), still_alive(folder)  # runs of an earlier session may still be saving
        process = start(file, folder)
        time.sleep(generator.uniform(0, seconds))
        way = number % 4
        if way == 0:
            process.kill()
        elif way == 1:
            kill_all(process, folder)
        else:
            process.send_signal(signal.SIGINT if way == 2 else signal.SIGTERM)
        output, _ = process.communicate(timeout=60)
        allowed = {0, 130, -signal.SIGKILL, -signal.SIGINT, -signal.SIGTERM}
        if process.returncode not in allowed:
            wrong.append(f"kill {number}: exit code {process.returncode}: {output.splitlines()[-1:]}")
        if way >= 2 and still_alive(folder) - saving:
            wrong.append(f"kill {number}: the study ended, and its runs did not")
        for name in before:
            if re.search(rf"^(starts|goes on): {re.escape(name)}$", output, re.MULTILINE):
                wrong.append(f"kill {number}: {name} had ended and was started again")
            if ended_runs(folder).get(name) != before[name]:
                wrong.append(f"kill {number}: the end of {name} was changed")
        wrong += broken_files(folder)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scratch", type=Path, default=None)
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="lamina-study-", dir=options.scratch))
    try:
        file = scratch / "tiny.json"
        file.write_text(json.dumps(STUDY))
        begin = time.monotonic()
        process = start(file, scratch / "undisturbed")
        output, _ = process.communicate(timeout=300)
        seconds = time.monotonic() - begin
        expected = results(scratch / "undisturbed")
        if process.returncode != 0 or len(ended_runs(scratch / "undisturbed")) != RUNS:
            raise SystemExit(f"the study fails undisturbed: {output}")

        folder = scratch / "disturbed"
        folder.mkdir()
        # A session gets through a part of the study, so that many runs are interrupted and some are left at the end.
        wrong = disturbed(file, folder, options.kills, random.Random(options.seed), min(1.5, 3 * seconds / options.kills))
        process = start(file, folder)
        output, _ = process.communicate(timeout=300)
        if process.returncode != 0:
            wrong.append(f"the last session ends with {process.returncode}: {output}")
        wrong += broken_files(folder) + trained_twice(folder)
        ended = results(folder)
        wrong += [f"{name} differs from the undisturbed study's" for name in sorted(expected.keys() | ended.keys())
                  if expected.get(name) != ended.get(name)]
        wrong += [f"left behind: {name}" for name in [*unfinished_files(folder), *map(str, folder.rglob("lock"))]]
        for line in wrong:
            print("FAILED:", line)
        print(f"{options.kills} kills; {sessions(folder) - RUNS} times a run went on")
        print(f"{0 if wrong else 1} passed, {1 if wrong else 0} failed")
        return 1 if wrong else 0
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
