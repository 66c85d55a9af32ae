#!/usr/bin/env python3
"""The table of the paper's claims in README.md, from what is committed of studies, labs and pages.

    tools/paper-claims.py            prints the table
    tools/paper-claims.py --write    puts it into README.md
    tools/paper-claims.py --check    fails where README.md has another

models/evidence/paper.json lists the claims. Each says where its evidence is:

    "study": "models/mnist/results/x", "of": a claim of its verdicts.json
    "lab": "online", "of": a claim of the lab, judged again from models/lab/results
    "page": a README, and in it either "quote", a text that must be there, or the numbers of "column" in the "rows" of a
            table (the first one that has both; with "heading" the first behind it). "answer" where the page decides;
            without it one seed was trained, which decides nothing; without "seeds" there is no result.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = "models/evidence/paper.json"
BEGIN, END = "<!-- claims: made by tools/paper-claims.py -->\n", "<!-- end of claims -->\n"


def lab_verdicts(name, folder):
    """Those of a lab, which measures nothing here."""
    made = folder / name / "verdicts.json"
    if not made.exists():
        command = [ROOT / "build/lamina", "lab", name, "--from", ROOT / "models/lab/results", "--out", made.parent]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{LIST}: lab {name}: {done.stderr.strip()}")
    return json.loads(made.read_text())


def judged(entry, folder):
    """Verdict, number, seeds and data of a claim that was judged over seeds."""
    if "lab" in entry:
        where, verdicts = "lab " + entry["lab"], lab_verdicts(entry["lab"], folder)
        link, data = f"[{entry['lab']}](models/lab/README.md)", "synthetic"
    else:
        where = entry["study"] + "/verdicts.json"
        verdicts = json.loads((ROOT / where).read_text())
        link = f"[{pathlib.Path(where).parent.name}]({entry['study']}/summary.md)"
        data = None
    found = [each for each in verdicts if each["claim"] == entry["of"]]
    if len(found) != 1:
        sys.exit(f"{LIST}: {where} has {len(found)} claims '{entry['of']}'; correct 'of'")
    verdict = found[0]
    if "interval" in verdict:
        kind = "ratio" if "ratio" in verdict else "difference"
        low, high = verdict["interval"]
        number = f"{kind} {verdict[kind]:.3g} ({low:.3g} to {high:.3g})"
    else:
        number = verdict["sentence"].removeprefix(verdict["answer"] + ": ").split(", n = ")[0]
    return verdict["answer"], number, verdict["n"], data or verdict["data"].split(";")[0], link


def cells_of(line):
    return [cell.strip().strip("*") for cell in line.strip().strip("|").split("|")]


def numbers_in(entry, page):
    """The cell of each row in the column, of the first table that has them all."""
    column, heading = entry["column"], entry.get("heading", "")
    lines = page[page.index(heading):].splitlines() if heading in page else []
    header, found = None, {}
    for line in lines + [""]:
        if not line.startswith("|"):
            if len(found) == len(entry["rows"]):
                return [found[row] for row in entry["rows"]]
            header, found = None, {}
        elif header is None:
            header = cells_of(line)
        elif column in header:
            for row in entry["rows"]:
                first = cells_of(row)
                if cells_of(line)[: len(first)] == first:
                    found[row] = cells_of(line)[header.index(column)]
    behind = f" behind '{heading}'" if heading else ""
    sys.exit(f"{LIST}: no table of {entry['page']}{behind} has the column '{column}' and the rows {entry['rows']}")


def from_page(entry):
    page = (ROOT / entry["page"]).read_text()
    link = f"[{pathlib.Path(entry['page']).parent.name}]({entry['page']})"
    if "quote" in entry:
        if entry["quote"] not in " ".join(page.split()):
            sys.exit(f"{LIST}: {entry['page']} does not say '{entry['quote']}'")
        number = entry.get("number", "")
    else:
        number = f"{entry['measured']}: " + " against ".join(numbers_in(entry, page))
    if "seeds" not in entry:
        return "withdrawn", "-", "-", "-", link
    return entry.get("answer", "one seed"), number, entry["seeds"], entry["data"], link


def table():
    lines = ["| section | claim of the paper | verdict | number (96% interval) | seeds | data | from |", "|---|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        for entry in json.loads((ROOT / LIST).read_text()):
            cells = from_page(entry) if "page" in entry else judged(entry, pathlib.Path(folder))
            lines.append("| " + " | ".join([entry["section"], entry["claim"], *map(str, cells)]) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the table into README.md")
    parser.add_argument("--check", action="store_true", help="fail where README.md has another table")
    arguments = parser.parse_args()
    made, readme = table(), ROOT / "README.md"
    text = readme.read_text()
    if (arguments.write or arguments.check) and text.count(BEGIN) + text.count(END) != 2:
        sys.exit(f"README.md: has no place for the table; write {BEGIN.strip()} and {END.strip()}")
    if arguments.write:
        readme.write_text(text[: text.index(BEGIN)] + BEGIN + made + text[text.index(END):])
    elif arguments.check:
        if text[text.index(BEGIN) + len(BEGIN): text.index(END)] != made:
            sys.exit("README.md: its table of claims is not that of the committed results; tools/paper-claims.py --write")
    else:
        print(made, end="")


if __name__ == "__main__":
    main()
