#!/usr/bin/env python3
"""Runs every experiment with faults of many kinds and goes on with it: `make faults`.

After a fault every file in the run's folder is whole, what failed is said in one line with its path, and --resume ends
bit for bit as an undisturbed run does. Prints what went wrong, a table, and "N passed, N failed".
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from damage import damage_cases
from runs import (ENVIRONMENT, EXPERIMENTS, LAMINA, ROOT, Outcome, Undisturbed, broken_files, differences, fresh,
                  go_on_command, is_one_clear_line, messages_in, resume_command, run, start_command, unfinished_files,
                  wrong_after_resuming)

# Kind, FAULT_KIND, FAULT_LASTS.
OPERATION_FAULTS = [("no space", "no-space", ""), ("no space from then on", "no-space", "1"),
                    ("input/output error", "input-output", ""),
                    ("input/output error from then on", "input-output", "1"), ("short write", "short", ""),
                    ("killed before", "kill-before", ""), ("killed after", "kill-after", "")]
WRITES = ("write", "pwrite", "writev")


class Skipped(Exception):
    """This machine does not permit the fault."""


# --- Every file operation fails once

def operations_of(options, experiment):
    """[(number, name)] of a run's file operations."""
    folder, log = fresh(options.scratch / f"count-{experiment}"), options.scratch / f"operations-{experiment}"
    outcome = run(start_command(experiment, folder), fault_environment(options, folder) | {"FAULT_LOG": str(log)})
    assert outcome.code == 0, outcome
    shutil.rmtree(folder)
    return [(int(line.split()[0]), line.split()[1]) for line in log.read_text().splitlines()]


def fault_environment(options, folder):
    return {"LD_PRELOAD": str(options.preloaded), "FAULT_FOLDER": str(folder)}


def wrong_with_operation(options, experiment, number, operation, fault, lasts):
    folder = fresh(options.scratch / f"{experiment}-{number}-{fault}{lasts}")
    outcome = run(start_command(experiment, folder), fault_environment(options, folder) | {
        "FAULT_AT": str(number), "FAULT_KIND": fault, "FAULT_LASTS": lasts})
    wrong = broken_files(folder)
    killed, removes = fault.startswith("kill"), operation == "unlink" or (fault == "input-output" and lasts)
    if killed and outcome.code != -signal.SIGKILL:
        wrong.append(f"was not killed: {outcome.code} {outcome.messages}")
    if fault == "short" and (outcome.code != 0 or outcome.messages):
        wrong.append(f"a short write is no error: {outcome.code} {outcome.messages}")
    if not killed and outcome.code != 0 and not is_one_clear_line(outcome, folder):
        wrong.append(f"not one clear line: {outcome.code} {outcome.messages}")
    if not killed and not removes and unfinished_files(folder):
        wrong.append("left behind: " + " ".join(unfinished_files(folder)))
    wrong += wrong_after_resuming(experiment, folder, options.undisturbed[experiment])
    shutil.rmtree(folder)
    return wrong


def operation_cases(options):
    for experiment in options.experiments:
        operations = operations_of(options, experiment)
        options.undisturbed[experiment]  # made before threads request it
        for shift, (title, fault, lasts) in enumerate(OPERATION_FAULTS):
            for number, name in operations:
                if (fault == "short" and name not in WRITES) or (number + shift) % options.every:
                    continue
                yield (title, f"{experiment}, operation {number} ({name})",
                       lambda e=experiment, n=number, o=name, f=fault, l=lasts:
                       wrong_with_operation(options, e, n, o, f, l))


# --- Killed and stopped at random moments

def stop_at_random(command, seconds, signals, generator):
    """Runs the command and sends it the signals at random moments within the given seconds; returns its outcome."""
    begin = time.monotonic()
    process = subprocess.Popen(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, errors="replace")
    for moment, one in zip(sorted(generator.uniform(0, seconds) for _ in signals), signals):
        time.sleep(max(0.0, begin + moment - time.monotonic()))
        if process.poll() is None:
            process.send_signal(one)
    messages = messages_in(process.communicate(timeout=300)[1])
    return Outcome(process.returncode, "", messages)


def duration_of(options, experiment):
    folder = fresh(options.scratch / f"timed-{experiment}")
    begin = time.monotonic()
    run(start_command(experiment, folder))
    shutil.rmtree(folder)
    return time.monotonic() - begin


def wrong_with_kills(options, experiment, number, scratch, seconds):
    """Up to three kills of one run, which is then resumed to its end."""
    generator = random.Random(f"{experiment} {number}")
    folder, wrong = fresh(scratch / f"killed-{experiment}-{number}"), []
    for _ in range(3):
        stop_at_random(go_on_command(experiment, folder), seconds, [signal.SIGKILL], generator)
        wrong += broken_files(folder)
    wrong += wrong_after_resuming(experiment, folder, options.undisturbed[experiment])
    shutil.rmtree(folder)
    return wrong


def kill_cases(options):
    for place in options.places:
        for experiment in options.experiments:
            options.undisturbed[experiment]
            seconds = duration_of(options, experiment)
            runs = max(1, round(options.kills / 3 / len(options.experiments) / len(options.places)))
            for number in range(runs):
                yield (f"three kills at random moments, {place}", f"{experiment}, run {number}",
                       lambda e=experiment, n=number, p=place, s=seconds:
                       wrong_with_kills(options, e, n, Path(p) / options.scratch.name, s))


def wrong_with_signals(options, experiment, number, signals, codes, seconds):
    generator = random.Random(f"{signals} {number}")
    folder = fresh(options.scratch / f"stopped-{experiment}-{'-'.join(str(int(one)) for one in signals)}-run-{number}")
    outcome = stop_at_random(start_command(experiment, folder), seconds, list(signals), generator)
    wrong = broken_files(folder)
    if outcome.code not in codes:
        wrong.append(f"exit code {outcome.code}, not one of {codes}; {outcome.messages}")
    if (Path(folder) / "lock").exists() and outcome.code >= 0:
        wrong.append("left behind: lock")
    wrong += wrong_after_resuming(experiment, folder, options.undisturbed[experiment])
    shutil.rmtree(folder)
    return wrong


def signal_cases(options):
    """A signal that arrives before the training loop catches it ends the program at once; that is allowed too."""
    hangup, terminate, interrupt = signal.SIGHUP, signal.SIGTERM, signal.SIGINT
    for experiment in options.experiments:
        options.undisturbed[experiment]
        seconds = duration_of(options, experiment)
        for title, signals in [("SIGHUP", [hangup]), ("SIGTERM", [terminate]), ("SIGINT", [interrupt]),
                               ("SIGHUP twice", [hangup, hangup]), ("SIGTERM twice", [terminate, terminate]),
                               ("SIGTERM, then SIGHUP", [terminate, hangup])]:
            codes = {0, 130} | {-one for one in signals}
            for number in range(options.signals):
                yield (title, f"{experiment}, run {number}", lambda e=experiment, n=number, s=signals, c=codes, t=seconds:
                       wrong_with_signals(options, e, n, s, c, t))


# --- Memory

def wrong_with_memory(options, megabytes):
    folder = fresh(options.scratch / f"memory-{megabytes}")
    command = ["/usr/bin/prlimit", f"--as={megabytes << 20}", str(LAMINA), "mnist", "--preset", "small", "--batch", "512", "--threads", "4", "--epochs", "1",
               "--out", str(folder)]
    outcome = run(command)
    wrong = broken_files(folder) if folder.exists() else []
    if outcome.code != 0 and not (outcome.code in (1, 2) and len(outcome.messages) == 1):
        wrong.append(f"exit code {outcome.code}: {' / '.join(outcome.messages)}")
    shutil.rmtree(folder, ignore_errors=True)
    return wrong


def memory_cases(options):
    for megabytes in range(300, 701, options.megabytes):
        yield "address space of 300 to 700 MB", f"{megabytes} MB", lambda m=megabytes: wrong_with_memory(options, m)


# --- Disks

class SmallDisk:
    """A separate tmpfs; Skipped where that is not permitted."""

    def __init__(self, path, kilobytes):
        self.path = fresh(path)
        self.path.mkdir()
        self.mount("-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs")

    def mount(self, *arguments):
        result = subprocess.run(["mount", *arguments, str(self.path)], capture_output=True, text=True)
        if result.returncode != 0:
            self.path.rmdir()
            raise Skipped(result.stderr.strip())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", str(self.path)], check=True)
        self.path.rmdir()


def wrong_with_full_disk(options, experiment, kilobytes):
    with SmallDisk(options.scratch / f"disk-{experiment}-{kilobytes}", kilobytes) as disk:
        folder = disk.path / "run"
        outcome = run(start_command(experiment, folder))
        wrong = broken_files(folder) if folder.exists() else []
        if outcome.code != 0 and not is_one_clear_line(outcome, folder):
            wrong.append(f"not one clear line: {outcome.code} {outcome.messages}")
        if folder.exists() and unfinished_files(folder):
            wrong.append("left behind: " + " ".join(unfinished_files(folder)))
        disk.mount("-o", "remount,size=1g")
        return wrong + wrong_after_resuming(experiment, folder, options.undisturbed[experiment])


def wrong_when_read_only(options, experiment):
    with SmallDisk(options.scratch / f"read-only-{experiment}", 1 << 20) as disk:
        folder = disk.path / "run"
        run(start_command(experiment, folder))
        disk.mount("-o", "remount,ro")
        wrong = []
        for command in (resume_command(experiment, folder), start_command(experiment, disk.path / "new"),
                        start_command(experiment, folder)):
            outcome = run(command)
            if outcome.code not in (1, 2) or len(outcome.messages) != 1 or str(disk.path) not in outcome.messages[0]:
                wrong.append(f"{command[2:]}: {outcome.code} {outcome.messages}")
        return wrong + differences(folder, options.undisturbed[experiment])


def disk_cases(options):
    for experiment in options.experiments:
        options.undisturbed[experiment]
        sizes = sorted({round(64 * 1.5**step) for step in range(0, 19)})[::options.disks]
        for kilobytes in sizes:
            yield ("a disk that gets full", f"{experiment}, {kilobytes} kB",
                   lambda e=experiment, k=kilobytes: wrong_with_full_disk(options, e, k))
        yield "a disk that is read-only", experiment, lambda e=experiment: wrong_when_read_only(options, e)


# --- Output that nothing reads

def wrong_with_output(options, experiment, shell, codes):
    folder = fresh(options.scratch / f"output-{experiment}-{abs(hash(shell))}")
    command = " ".join(start_command(experiment, folder))
    script = shell.replace("RUN", command)
    process = subprocess.run(["/bin/bash", "-c", script], env={**ENVIRONMENT, "PATH": os.environ["PATH"]},
                             capture_output=True, text=True, timeout=300)
    wrong = broken_files(folder)
    if process.returncode not in codes:
        wrong.append(f"exit code {process.returncode}, not one of {codes}: {messages_in(process.stderr)}")
    if (folder / "lock").exists() and process.returncode < 128:
        wrong.append("left behind: lock")
    wrong += wrong_after_resuming(experiment, folder, options.undisturbed[experiment])
    shutil.rmtree(folder)
    return wrong


def output_cases(options):
    """141 is a shell's 128 + SIGPIPE: the reader ended before or after the training loop."""
    for experiment in options.experiments:
        options.undisturbed[experiment]
        for title, shell, codes in [
                ("standard output closed", "RUN >&-", {0, 1}),
                ("both outputs closed", "RUN >&- 2>&-", {0, 1}),
                ("output on a full device", "RUN >/dev/full", {0, 1}),
                ("both outputs on a full device", "RUN >/dev/full 2>&1", {0, 1}),
                ("a reader that takes two lines", "RUN | head -n 2 >/dev/null; exit ${PIPESTATUS[0]}", {0, 1, 130, 141}),
                ("a reader that takes three lines", "RUN 2>&1 | head -n 3 >/dev/null; exit ${PIPESTATUS[0]}",
                 {0, 1, 130, 141})]:
            yield title, experiment, lambda e=experiment, s=shell, c=codes: wrong_with_output(options, e, s, c)


# --- All together

CLASSES = {"damage": damage_cases, "operations": operation_cases, "kills": kill_cases, "signals": signal_cases, "memory": memory_cases,
           "disks": disk_cases, "output": output_cases}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--classes", default=",".join(CLASSES), help="which kinds of faults: %(default)s")
    parser.add_argument("--experiments", default=",".join(EXPERIMENTS), help="which experiments: %(default)s")
    parser.add_argument("--every", type=int, default=1, help="let every N-th file operation fail, not each")
    parser.add_argument("--kills", type=int, default=1000, help="random kills in all")
    parser.add_argument("--signals", type=int, default=5, help="runs for each signal and experiment")
    parser.add_argument("--megabytes", type=int, default=10, help="step of the memory limit")
    parser.add_argument("--disks", type=int, default=1, help="take every N-th size of a full disk")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at the same time")
    parser.add_argument("--preloaded", type=Path, default=ROOT / "build/faults/file_faults.so")
    options = parser.parse_args()
    options.experiments = options.experiments.split(",")
    options.places = [place for place in ("/dev/shm", "/var/tmp") if os.access(place, os.W_OK)]
    return options


def run_cases(options, cases):
    """By title: [tried, wrong]; prints what is wrong."""
    table = {}

    def attempt(case):
        title, name, body = case
        try:
            return title, name, body()
        except Skipped as reason:
            return title, name, reason
        except subprocess.TimeoutExpired:
            return title, name, ["hangs"]

    with ThreadPoolExecutor(options.jobs) as pool:
        for title, name, wrong in pool.map(attempt, cases):
            row = table.setdefault(title, [0, 0, 0])
            if isinstance(wrong, Skipped):
                row[2] += 1
                continue
            row[0] += 1
            row[1] += bool(wrong)
            for line in wrong:
                print(f"FAILED: {title}: {name}: {line}", flush=True)
    return table


def main():
    options = arguments()
    scratch = tempfile.mkdtemp(prefix="lamina-faults-", dir=options.places[0])
    options.scratch = Path(scratch)
    options.undisturbed = Undisturbed(scratch)
    table = {}
    try:
        for name in options.classes.split(","):
            table |= run_cases(options, CLASSES[name](options))
    finally:
        for place in options.places:
            shutil.rmtree(Path(place) / options.scratch.name, ignore_errors=True)
    print("| fault | tried | wrong |\n|---|---|---|")
    for title, (tried, wrong, skipped) in table.items():
        print(f"| {title} | {tried} | {wrong} |" + (f" {skipped} skipped: not permitted here" if skipped else ""))
    tried, failed, skipped = (sum(row[i] for row in table.values()) for i in range(3))
    print(f"{tried - failed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
