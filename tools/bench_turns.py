#!/usr/bin/env python3
"""What tools/bench.py, tools/bench_small.py and tools/compare-builds share: programs that stay in memory and take turns, and the statistics of it.

Such a program answers each line with one: a number of seconds with the mean milliseconds of a step in a burst of so long,
"facts" with JSON. A bench_steps program lists its cases and answers "peak" as well.

Example: tools/bench_turns.py build/bench_gemm   # a program alone, in the environment of the benchmarks
"""
import functools
import json
import os
import random
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PEERS = os.path.join(TOP, "tools", "peers")
TUNED_MALLOC = {"MALLOC_MMAP_THRESHOLD_": "4294967296", "MALLOC_TRIM_THRESHOLD_": "8589934592",
                "MALLOC_TOP_PAD_": "67108864"}  # with which PyTorch is fastest
LEAST_BURSTS = 8  # for an interval: bootstrapped from 6 bursts it has the ratio in 9 of 10 cases, from 2 in half of them
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


def openblas_core(environment):
    """Whose kernels OpenBLAS takes in such an environment; nothing without OpenBLAS."""
    ask = ("import ctypes; name = ctypes.CDLL('libopenblas.so.0').openblas_get_corename; "
           "name.restype = ctypes.c_char_p; print(name().decode())")
    return subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, env=environment).stdout.strip()


def core_to_set(cpu_flags, core):
    """The core whose vectors are as wide as the CPU's, where OpenBLAS takes a narrower one; else nothing."""
    wide, middle = ("SkylakeX", "Cooperlake", "Sapphirerapids"), ("Haswell", "Zen")
    for flag, cores in (("avx512f", wide), ("avx2", middle + wide)):
        if flag in cpu_flags:
            return None if not core or core.title() in map(str.title, cores) else cores[0]
    return None


@functools.cache
def environment():
    """The number of threads is an argument, and OpenBLAS chooses its own kernels. An OpenBLAS that is older than the CPU takes
    SSE's, though, with which PyTorch's steps took up to 4.3 times as long: there it is told which fit."""
    own = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "LAMINA_THREADS")}
    core = openblas_core(own)
    if better := core_to_set(of_first_core("flags").split(), core):
        print(f"OpenBLAS does not know this CPU and takes {core}'s kernels: OPENBLAS_CORETYPE={better} is set", file=sys.stderr)
        own["OPENBLAS_CORETYPE"] = better
    return own


class Resident:
    """A program that times a burst whenever it is asked to."""

    def __init__(self, command, extra_environment=None):
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                            env={**environment(), **(extra_environment or {})})
        except OSError as problem:
            sys.exit(f"{command[0]}: {problem.strerror}")

    def ask(self, line):
        try:
            self.process.stdin.write(f"{line}\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            sys.exit(f"{' '.join(map(str, self.process.args))} ended in the middle; run it by hand")
        return answer

    def burst(self, seconds):
        answer = self.ask(seconds)
        try:
            return float(answer)
        except ValueError:
            sys.exit(f"{' '.join(map(str, self.process.args))} says {answer.strip()!r} in place of milliseconds; run it by hand")

    def peak_mb(self):
        """The most memory that it has had so far, in MB, its code included."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def bench_steps(program, case, variant, threads):
    return Resident([program, "--case", case, "--variant", variant, "--threads", str(threads), "--bursts"])


def pytorch(python, script, case, variant, threads, mode=()):
    command = [python, os.path.join(PEERS, "torch_turns.py"), script, "--case", case, "--variant", variant,
               "--threads", str(threads), *mode]
    return Resident(command, TUNED_MALLOC)


def has_torch(python):
    try:
        return subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0
    except OSError:
        return False


def middle_of_resamples(starts, statistic, resamples=2000):
    """The middle 95% of a statistic over resampled items, a bootstrap interval; the same for the same items. Items come in lists,
    one for each start of the processes: what a start has in common is resampled with the lists, and the rest within them."""
    rng = random.Random(1)
    resample = lambda: [item for start in rng.choices(starts, k=len(starts)) for item in rng.choices(start, k=len(start))]
    values = sorted(statistic(resample()) for _ in range(resamples))
    return values[int(0.025 * resamples)], values[int(0.975 * resamples)]


def lower_part(times, share):
    """The time that a share of the bursts does not exceed: neighbours only ever add time."""
    return sorted(times)[int(share * len(times))]


def take_turns(sides, bursts, seconds, after_turn=lambda: None):
    """The bursts' milliseconds, a list for each turn with one number for each side; and the facts of the sides, which then end."""
    turns = []
    for _ in range(2):  # PyTorch's compiler settles within the first calls
        for side in sides:
            side.burst(seconds)
    for turn in range(bursts):
        times = [0.0] * len(sides)
        for place in range(len(sides)):
            which = (turn + place) % len(sides)  # who goes first changes
            time.sleep(REST)
            times[which] = sides[which].burst(seconds)
        turns.append(times)
        after_turn()
    facts = [json.loads(side.ask("facts")) for side in sides]
    for side in sides:
        side.close()
    return turns, facts


def quartile_of(turns, side):
    return lower_part([times[side] for times in turns], 0.25)


def ratio_to_first(starts, side):
    """How much longer a side takes than the first, a 95% interval of that (None of too few bursts), and whether it is too wide to
    say. `starts` has the turns after each start of the processes."""
    ratio = lambda some: quartile_of(some, side) / quartile_of(some, 0)
    turns = [turn for start in starts for turn in start]
    value = ratio(turns)
    if len(turns) < LEAST_BURSTS:
        return value, None, False
    interval = middle_of_resamples(starts, ratio)
    return value, interval, interval[1] - interval[0] > 0.05 * value


def interval_text(interval):
    return "too few bursts" if interval is None else "{:.2f} to {:.2f}".format(*interval)


def of_first_core(name):
    """What /proc/cpuinfo says of the first core under a name; nothing where it has no such line."""
    with open("/proc/cpuinfo") as cpuinfo:
        return next((line.split(":", 1)[1].strip() for line in cpuinfo if line.split(":")[0].strip() == name), "")


def machine():
    """The processor's name, as reported by Linux."""
    name = of_first_core("model name")
    return f"{os.cpu_count()} cores of {name}" if name else f"{os.cpu_count()} cores"


if __name__ == "__main__":  # tools/bench_turns.py PROGRAM ...: runs it in the environment of the benchmarks
    program = sys.argv[1:]
    if program in ([], ["-h"], ["--help"]):
        print(__doc__)
        sys.exit(0 if program else 2)
    try:
        os.execvpe(program[0], program, environment())
    except OSError as problem:
        sys.exit(f"{program[0]}: {problem.strerror}")
