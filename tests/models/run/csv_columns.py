#!/usr/bin/env python3
"""Whether models/run/FILES.md defines every column of every CSV file under some folders.

    tests/models/run/csv_columns.py FOLDER...

Prints the columns that it does not define, one a line with their file, and exits with 1 when there are any. Files of a lab
are those of a folder of the lab's name that has verdicts.
"""

import json
import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "models/run/FILES.md"


def defined():
    """{file: {experiment or "": patterns of its columns}}; patterns of other files are all under ""."""
    files, current, who = {}, [], [""]
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            current, who = [files.setdefault(name, {}) for name in line[3:].split(", ")], [""]
        elif re.fullmatch(r"`[\w-]+`(, `[\w-]+`)*:", line):
            who = re.findall(r"`([\w-]+)`", line)
        elif line.startswith("| `"):
            columns = re.findall(r"`([^`]+)`", line.split("|")[1])
            for each in current:
                for experiment in who:
                    each.setdefault(experiment, []).extend(columns)
    return files


def matches(column, patterns):
    """METRIC, QUANTITY stand for any name."""
    return any(re.fullmatch(re.sub(r"METRIC|QUANTITY", r"[\\w .,()/'-]+", pattern), column) for pattern in patterns)


def patterns_of(path, files):
    name = path.name
    if name == "initial.csv":
        name = "metrics.csv"
    elif name.startswith("tasks"):
        name = "tasks.csv"
    elif name == path.parent.name + ".csv" and (path.parent / "verdicts.json").exists():
        name = "LAB.csv"
    patterns = files.get(name, {})
    if name != "metrics.csv":
        return patterns.get("", [])
    experiment = json.loads((path.parent / "config.json").read_text())["experiment"]
    return patterns.get("", []) + patterns.get(experiment, [])


def settings_of(path):
    """A study's tables have a column for each setting that tells its variants apart."""
    study = path.parent / "study.json"
    combinations = json.loads(study.read_text())["combinations"] if study.exists() else {}
    return {setting for each in combinations.values() for setting in each}


def main():
    files = defined()
    paths = [path for folder in sys.argv[1:] for path in sorted(Path(folder).rglob("*.csv"))]
    if not paths:
        sys.exit(f"no CSV file under {' '.join(sys.argv[1:])}")
    wrong = [f"{path}: FILES.md does not define '{column}'" for path in paths
             for column in path.read_text().split("\n", 1)[0].split(",")
             if not matches(column, patterns_of(path, files)) and column not in settings_of(path)]
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(len(wrong) > 0)


if __name__ == "__main__":
    main()
