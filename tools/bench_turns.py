"""What tools/bench.py and tools/compare-builds share: programs that stay in memory and take turns, and the statistics of it.

Such a program answers each line with one: a number of seconds with the mean milliseconds of a step in a burst of so long,
"facts" with JSON. A bench_steps program lists its cases and answers "peak" as well.
"""
import json
import os
import random
import subprocess
import sys

REST = 0.01  # seconds between bursts, in which threads that spin go to sleep


def listed(program):
    """What --list says: one {"case": ..., "beside_pytorch": [variants], "alone": [variants]} per case."""
    try:
        lines = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.splitlines()
        cases = [json.loads(line) for line in lines]
    except (OSError, subprocess.CalledProcessError, json.JSONDecodeError):
        cases = []
    if not cases:
        sys.exit(f"{program} does not list its cases; `make build/bench_steps` builds one that does")
    return cases


def chosen(parser, wanted, cases):
    """The named cases, all when none is named; an unknown name ends the program."""
    for case in wanted or []:
        if case not in cases:
            parser.error(f"no case {case}; there are {', '.join(cases)}")
    return wanted or list(cases)


class Resident:
    """A program that times a burst whenever it is asked to."""

    def __init__(self, command, extra_environment=None):
        # OpenBLAS picks its kernels itself.
        env = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**env, **(extra_environment or {})})

    def ask(self, line):
        """The answer, or None where the program has ended."""
        try:
            self.process.stdin.write(f"{line}\n")
            self.process.stdin.flush()
            return self.process.stdout.readline() or None
        except BrokenPipeError:
            return None

    def burst(self, seconds):
        answer = self.ask(seconds)
        if answer is None:
            sys.exit(f"{' '.join(map(str, self.process.args))} ended in the middle; run it by hand")
        return float(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def bench_steps(program, case, variant, threads):
    return Resident([program, "--case", case, "--variant", variant, "--threads", str(threads), "--bursts"])


def middle_of_resamples(items, statistic, resamples=2000):
    """The middle 95% of a statistic over resampled items, a bootstrap interval; the same for the same items."""
    rng = random.Random(1)
    values = sorted(statistic(rng.choices(items, k=len(items))) for _ in range(resamples))
    return values[int(0.025 * resamples)], values[int(0.975 * resamples)]


def lower_part(times, share):
    """The time that a share of the bursts does not exceed: neighbours only ever add time."""
    return sorted(times)[int(share * len(times))]
