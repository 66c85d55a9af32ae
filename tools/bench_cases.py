"""How tools/bench.py and tools/compare-builds query a bench_steps program for its cases."""
import json
import subprocess
import sys


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
