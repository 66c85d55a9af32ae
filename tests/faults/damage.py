"""Damaged files of a run under --resume: refused in one line with the file's name, and nothing in the folder changes."""

import json
import shutil
import struct
from pathlib import Path

from runs import EXPERIMENTS, fresh, resume_command, run, start_command


def with_metadata(**changes):
    def damage(content):
        (length,) = struct.unpack("<Q", content[:8])
        header = json.loads(content[8:8 + length])
        header["__metadata__"] |= changes
        text = json.dumps(header).encode()
        return struct.pack("<Q", len(text)) + text + content[8 + length:]
    return damage


def all_nan(content):
    (length,) = struct.unpack("<Q", content[:8])
    return content[:8 + length] + b"\xff" * (len(content) - 8 - length)


def of_another_experiment(content):
    config = json.loads(content)
    config["experiment"] = "draw" if config["experiment"] != "draw" else "mnist"
    return json.dumps(config).encode()


ANY_FILE = {"empty": lambda content: b"", "first half": lambda content: content[:len(content) // 2],
            "one byte less": lambda content: content[:-2], "noise in front": lambda content: b"noise" + content}
CHECKPOINT = ANY_FILE | {"bytes behind its end": lambda content: content + b"more", "all NaN": all_nan}
STATE = CHECKPOINT | {"step abc": with_metadata(step="abc"), "step -1": with_metadata(step="-1"),
                      "step 8x": with_metadata(step="8x"), "seconds nan": with_metadata(seconds="nan"),
                      "step after the end": with_metadata(**{"step": "1000000", "adam.steps": "1000000"})}
CONFIG = ANY_FILE | {"no settings": lambda content: b"{}", "another experiment's": of_another_experiment}
FILES = {"config.json": CONFIG, "state": STATE, "model.safetensors": CHECKPOINT, "best.safetensors": ANY_FILE}


def content_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def wrong_after(command, folder, name):
    """What is wrong with how a command refuses the folder because of the file of that name."""
    before = content_of(folder)
    outcome = run(command)
    wrong = []
    if outcome.code not in (1, 2) or len(outcome.messages) != 1 or f"{folder}/{name}" not in outcome.messages[0]:
        wrong.append(f"not one line that names {folder}/{name}: {outcome.code} {outcome.messages}")
    if content_of(folder) != before:
        wrong.append("files changed")
    return wrong


def wrong_with_damage(options, experiment, name, title):
    folder = fresh(options.scratch / f"damaged-{experiment}-{name}-{title}".replace(" ", "-").replace("'", ""))
    shutil.copytree(options.scratch / f"whole-{experiment}", folder)
    path = folder / name
    path.write_bytes(FILES[name][title](path.read_bytes()))
    wrong = wrong_after(resume_command(experiment, folder), folder, name)
    shutil.rmtree(folder)
    return wrong


def wrong_with_other_commands(options, experiment):
    folder = options.scratch / f"whole-{experiment}"
    wrong = []
    for other in EXPERIMENTS:
        if other != experiment:
            wrong += wrong_after(resume_command(other, folder), folder, "config.json")
    return wrong


def damage_cases(options):
    for experiment in options.experiments:
        folder = fresh(options.scratch / f"whole-{experiment}")
        outcome = run(start_command(experiment, folder))
        assert outcome.code == 0, outcome
        for name, damages in FILES.items():
            for title in damages if (folder / name).exists() else []:
                yield (f"damaged {name}", f"{experiment}, {title}",
                       lambda e=experiment, n=name, t=title: wrong_with_damage(options, e, n, t))
        yield ("--resume by the six other commands", experiment,
               lambda e=experiment: wrong_with_other_commands(options, e))
