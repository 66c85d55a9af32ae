#!/usr/bin/env python3
"""Gives every flag of every command values that make no sense. Each must be refused at once, in one line that names the flag.

    tests/tools/flags/nonsense_flags.py PROGRAM [--all]

The flags and what they allow are those that --help shows. Without --all each flag gets a few of its values, other ones
for each flag in turn. Ends with "N passed, M failed".
"""

import concurrent.futures
import itertools
import re
import subprocess
import sys

NO_NUMBERS = ["", "x", "0x10", "nan", "-inf", "1e400", "1 2", "1,,2", "1;2", "--", "١"]
BAD_WORDS = ["", "nonsense", ",", "none,,layer", "0", "\xff"]
SHORT = 3  # values per flag


def said(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout


def commands(program):
    """The words that call each command, including nested ones."""
    for line in said(program, "list").splitlines():
        name = line.split("\t")[0]
        yield (name,)
        within = said(program, name, "--help").partition("Subcommands:")[2].partition("\n\n")[0]
        for inner in re.findall(r"^  (\S+)", within, re.MULTILINE):
            yield (name, inner)


def flags(program, command):
    """Each flag with the kind of its values: "INT:{0 to 1024}", or "" for one without."""
    text = said(program, *command, "--help").partition("Subcommands:")[0]
    for name, kind in re.findall(r"^  (--[a-z-]+)(?: ([A-Z]+(?::\{[^}]*\})?))?", text, re.MULTILINE):
        yield name, kind


def nonsense(kind):
    """Values that a flag of this kind must refuse."""
    name, _, limits = kind.partition(":")
    if name == "TEXT":
        return BAD_WORDS if limits else [""]
    if name not in ("INT", "FLOAT"):
        return ["=maybe"]
    least, most = re.search(r"(?:(?:from|above) )?(-?\d+)", limits), re.search(r"to (\d+)", limits)
    beyond = [str(int(least[1]) - 1)] if least else []
    beyond += [least[1]] if "above" in limits else []
    beyond += [str(int(most[1]) + 1)] if most else []
    return beyond + NO_NUMBERS + (["1.5", "1e3", "18446744073709551616"] if name == "INT" else ["0x1p3", "1e39"])


def problem(program, command, flag, value):
    """What is wrong with how the program refuses the value; None when nothing is."""
    words = [flag + value] if value.startswith("=") else [flag, value] if value == "" else [f"{flag}={value}"]
    call = " ".join(map(repr, [*command, *words]))
    try:
        run = subprocess.run([program, *command, *words], capture_output=True, timeout=10, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return f"{call}: still runs after 10 s"
    line = run.stderr.decode(errors="replace")
    if run.returncode != 2 or run.stdout or line.count("\n") != 1 or flag not in line:
        return f"{call}: exit code {run.returncode}, {line!r}"
    return None


def main():
    program, everything = sys.argv[1], "--all" in sys.argv[2:]
    rotation = itertools.count()
    tries = []
    for command in commands(program):
        for flag, kind in flags(program, command):
            values = nonsense(kind)
            if not everything:
                start = next(rotation)
                values = [values[(start * SHORT + i) % len(values)] for i in range(min(SHORT, len(values)))]
            tries += [(program, command, flag, value) for value in values]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = [found for found in pool.map(lambda each: problem(*each), tries) if found]
    for found in problems:
        print("FAILED:", found)
    print(f"{len(tries) - len(problems)} passed, {len(problems)} failed")
    return bool(problems) or len(tries) < 200


if __name__ == "__main__":
    sys.exit(main())
