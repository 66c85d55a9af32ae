"""The experiments' smallest runs, and what must hold of a run's folder whatever happened to the run."""

import csv
import json
import os
import re
import shutil
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAMINA = ROOT / "build/lamina"
COMMON = ["--preset", "small", "--threads", "1", "--seed", "5"]

# All but one save at least three times. Without gnuplot in PATH no figure is drawn, which only takes time.
EXPERIMENTS = {
    "mnist": ["--batch", "256", "--epochs", "3", "--record", "every=4"],
    "convnet": ["--batch", "320", "--epochs", "1"],
    "draw": ["--batch", "256", "--epochs", "2"],
    "handwriting": ["--batch", "2", "--length", "8", "--updates", "450"],
    "skip-thoughts": ["--epochs", "1", "--batch", "64", "--evaluate-every", "4"],
    "transformer": ["--layers", "1", "--batch", "16", "--updates", "9", "--validate-every", "4", "--sample", "30"],
    "attentive-reader": ["--norm", "layer", "--batch", "64", "--updates", "5", "--validate-every", "2"],
    "order-embedding": ["--score", "order", "--norm", "layer", "--batch", "64", "--epochs", "2", "--validate-every", "4"],
}
ENVIRONMENT = {"LAMINA_SMOKE": "15", "PATH": "/nonexistent", "LC_ALL": "C"}


def start_command(experiment, folder):
    return [str(LAMINA), experiment, *COMMON, *EXPERIMENTS[experiment], "--out", str(folder)]


def resume_command(experiment, folder):
    return [str(LAMINA), experiment, "--resume", "--out", str(folder)]


def go_on_command(experiment, folder):
    """Resumes a run, or starts it when it was stopped before it had a config.json."""
    begun = (Path(folder) / "config.json").exists()
    return resume_command(experiment, folder) if begun else start_command(experiment, folder)


@dataclass
class Outcome:
    code: int  # negative: the signal that ended it
    output: str
    messages: list = field(default_factory=list)  # lines on standard error


def run(command, environment=None, **options):
    process = subprocess.run(command, env={**ENVIRONMENT, **(environment or {})}, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, errors="replace", **options)
    return Outcome(process.returncode, process.stdout, messages_in(process.stderr))


def messages_in(text):
    """Lines of standard error, without the one that says that gnuplot is missing."""
    return [line for line in text.splitlines() if "gnuplot is not installed" not in line]


# --- Files that are whole

def read_checkpoint(path):
    """The header and the bytes of a safetensors file; ValueError when it is not whole."""
    content = path.read_bytes()
    if len(content) < 8:
        raise ValueError(f"{path}: {len(content)} bytes")
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + length])
    values = content[8 + length:]
    spans = sorted(entry["data_offsets"] for name, entry in header.items() if name != "__metadata__")
    ends = [0] + [end for _, end in spans]
    if [begin for begin, _ in spans] != ends[:-1] or ends[-1] != len(values):
        raise ValueError(f"{path}: its tensors do not fill it")
    return header, values


def read_rows(path):
    """The rows of a csv file; ValueError when a line is cut off."""
    text = path.read_text()
    if not text.endswith("\n"):
        raise ValueError(f"{path}: ends within a line")
    rows = list(csv.reader(text.splitlines()))
    if any(len(row) != len(rows[0]) for row in rows):
        raise ValueError(f"{path}: a line has another number of fields than the header")
    return rows


def unfinished_files(folder):
    return [str(path) for path in Path(folder).rglob("*") if re.search(r"\.\d+-\d+\.lamina-tmp$", path.name)]


def broken_files(folder):
    """What is wrong with the files of a folder, one line each."""
    wrong = []
    for path in Path(folder).rglob("*"):
        try:
            if path.name == "state" or path.suffix == ".safetensors":
                read_checkpoint(path)
            elif path.suffix == ".csv":
                read_rows(path)
            elif path.suffix == ".json":
                json.loads(path.read_text())
        except (ValueError, KeyError) as problem:
            wrong.append(f"not whole: {problem}")
    return wrong


# --- The end of a run, except for the time that it took

def without_seconds(rows):
    kept = [i for i, name in enumerate(rows[0]) if name != "seconds"]
    return [[row[i] for i in kept] for row in rows]


def state_of(path):
    header, values = read_checkpoint(path)
    metadata = header["__metadata__"]
    metadata["metrics"] = without_seconds(list(csv.reader(metadata["metrics"].splitlines())))
    del metadata["seconds"]
    return header, values


def result_of(folder):
    """By file: everything that must be equal at the end of two runs with the same settings."""
    result = {}
    for path in sorted(Path(folder).rglob("*")):
        name = str(path.relative_to(folder))
        if path.name == "state":
            result[name] = state_of(path)
        elif path.suffix in (".safetensors", ".txt", ".tsv"):
            result[name] = path.read_bytes()
        elif path.suffix == ".csv":
            result[name] = without_seconds(read_rows(path))
    return result


def differences(folder, expected):
    """How the end of a run differs from what is expected, one line each."""
    wrong = broken_files(folder) + [f"left behind: {name}" for name in unfinished_files(folder)]
    if wrong:
        return wrong
    if (Path(folder) / "lock").exists():
        return [f"left behind: {folder}/lock"]
    result = result_of(folder)
    return [f"{name} differs from the undisturbed run's" for name in sorted(expected.keys() | result.keys())
            if expected.get(name) != result.get(name)]


class Undisturbed:
    """The results of undisturbed runs, each made on first request."""

    def __init__(self, scratch):
        self.scratch, self.results = Path(scratch), {}

    def __getitem__(self, experiment):
        if experiment not in self.results:
            folder = self.scratch / f"undisturbed-{experiment}"
            outcome = run(start_command(experiment, folder))
            if outcome.code != 0:
                raise SystemExit(f"{experiment} fails undisturbed: {outcome.messages}")
            self.results[experiment] = result_of(folder)
            shutil.rmtree(folder)
        return self.results[experiment]


def wrong_after_resuming(experiment, folder, expected):
    """Resumes a run that was stopped; returns what is wrong with its end."""
    outcome = run(go_on_command(experiment, folder))
    if outcome.code != 0:
        return [f"resuming ends with {outcome.code}: {' / '.join(outcome.messages)}"]
    return differences(folder, expected)


def is_one_clear_line(outcome, folder):
    """Exit code 1, and one line on standard error that names a path of the run."""
    return outcome.code == 1 and len(outcome.messages) == 1 and str(folder) in outcome.messages[0]


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(Path(folder).parent, exist_ok=True)
    return Path(folder)
