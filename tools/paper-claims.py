#!/usr/bin/env python3
"""The paper's claims and what is known of them, from what is committed of studies, labs and pages: a table in README.md,
and the same with all claims of labs and of the studies of later papers as models/evidence/claims.json, from which the
report takes its verdicts.

    tools/paper-claims.py            prints the table
    tools/paper-claims.py --write    puts it into README.md, and writes claims.json
    tools/paper-claims.py --check    fails where one of them is another

models/evidence/paper.json lists the paper's claims. Each names the report's exhibits that it belongs to, and says where
its evidence is:

    "study": "models/mnist/results/x", "of": a claim of its verdicts.json; those that begin with "The paper (" must be here
    "lab": "online", "of": a claim of the lab, judged again from models/lab/results
    "page": a README, and in it either "quote", a text that must be there, or the numbers of "column" in the "rows" of a
            table (the first one that has both). "answer" where the page decides;
            without it one seed was trained, which decides nothing; without "seeds" there is no result: "withdrawn", or
            what "answer" says, such as "not measured".
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST, CLAIMS = "models/evidence/paper.json", "models/evidence/claims.json"
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


def verdict_of(verdict, data, name, page):
    """A verdict of a study or lab: what it says and of what."""
    if "interval" in verdict:
        kind = "ratio" if "ratio" in verdict else "difference"
        low, high = verdict["interval"]
        number = f"{kind} {verdict[kind]:.3g} ({low:.3g} to {high:.3g})"
    else:
        number = verdict["sentence"].removeprefix(verdict["answer"] + ": ").split(", n = ")[0]
    return {"answer": verdict["answer"], "number": number, "seeds": verdict["n"],
            "data": data or verdict["data"], "name": name, "page": page}


def judged(entry, folder):
    """A claim of the paper that was judged over seeds."""
    if "lab" in entry:
        where, verdicts = "lab " + entry["lab"], lab_verdicts(entry["lab"], folder)
        data, name, page = "synthetic", entry["lab"], "models/lab/README.md"
    else:
        where = entry["study"] + "/verdicts.json"
        verdicts = json.loads((ROOT / where).read_text())
        data, name, page = None, pathlib.Path(where).parent.name, entry["study"] + "/summary.md"
    found = [each for each in verdicts if each["claim"] == entry["of"]]
    if len(found) != 1:
        sys.exit(f"{LIST}: {where} has {len(found)} claims '{entry['of']}'; correct 'of'")
    return verdict_of(found[0], data, name, page)


def cells_of(line):
    return [cell.strip().strip("*") for cell in line.strip().strip("|").split("|")]


def numbers_in(entry, page):
    """The cell of each row in the column, of the first table that has them all."""
    column, header, found = entry["column"], None, {}
    for line in page.splitlines() + [""]:
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
    sys.exit(f"{LIST}: no table of {entry['page']} has the column '{column}' and the rows {entry['rows']}")


def from_page(entry):
    page = (ROOT / entry["page"]).read_text()
    where = {"name": pathlib.Path(entry["page"]).parent.name, "page": entry["page"]}
    if "quote" in entry:
        if entry["quote"] not in " ".join(page.split()):
            sys.exit(f"{LIST}: {entry['page']} does not say '{entry['quote']}'")
        number = entry.get("number", "")
    else:
        number = f"{entry['measured']}: " + " against ".join(numbers_in(entry, page))
    if "seeds" not in entry:
        return {"answer": entry.get("answer", "withdrawn"), "number": "", "seeds": 0, "data": "", **where}
    return {"answer": entry.get("answer", "one seed"), "number": number, "seeds": entry["seeds"], "data": entry["data"], **where}


def papers_claims(folder):
    for entry in json.loads((ROOT / LIST).read_text()):
        known = from_page(entry) if "page" in entry else judged(entry, folder)
        yield {"exhibits": entry["exhibit"].split(), "section": entry["section"], "claim": entry["claim"], **known}


def require_all_listed():
    """Of every study the claims that are the paper's."""
    listed = {(entry["study"], entry["of"]) for entry in json.loads((ROOT / LIST).read_text()) if "study" in entry}
    for results in sorted(ROOT.glob("models/*/results/*/verdicts.json")):
        study = str(results.parent.relative_to(ROOT))
        for verdict in json.loads(results.read_text()):
            if verdict["claim"].startswith("The paper (") and (study, verdict["claim"]) not in listed:
                sys.exit(f"{LIST}: lacks the claim of {study} '{verdict['claim']}'; add it")


def other_claims(folder):
    """Those of the studies of later papers, and of all labs but for what is listed of them as the paper's. What else a study of the
    paper claims stands in its summary."""
    entries = json.loads((ROOT / LIST).read_text())
    papers = {pathlib.Path(entry["study"]).parts[1] for entry in entries if "study" in entry}
    listed = {(entry["lab"], entry["of"]) for entry in entries if "lab" in entry and "lab-" + entry["lab"] in entry["exhibit"].split()}
    for results in sorted(ROOT.glob("models/*/results/*/verdicts.json")):
        if results.relative_to(ROOT).parts[1] in papers:
            continue
        name, page = results.parent.name, str(results.parent.relative_to(ROOT) / "summary.md")
        for verdict in json.loads(results.read_text()):
            yield {"exhibits": ["study-" + name], "claim": verdict["claim"], **verdict_of(verdict, None, name, page)}
    for results in sorted((ROOT / "models/lab/results").glob("*.csv")):
        for verdict in lab_verdicts(results.stem, folder):
            if (results.stem, verdict["claim"]) in listed:
                continue
            yield {"exhibits": ["lab-" + results.stem], "claim": verdict["claim"],
                   **verdict_of(verdict, "synthetic", results.stem, "models/lab/README.md")}


def row_of(claim):
    """A line of README.md's table."""
    cells = [claim["answer"], claim["number"] or "-", str(claim["seeds"] or "-"), claim["data"] or "-"]
    return "| " + " | ".join([claim["section"], claim["claim"], *cells, f"[{claim['name']}]({claim['page']})"]) + " |"


def made():
    """The table, and the content of claims.json."""
    head = ["| section | claim of the paper | verdict | number (96% interval) | seeds | data | from |", "|---|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        papers = list(papers_claims(pathlib.Path(folder)))
        require_all_listed()
        claims = papers + list(other_claims(pathlib.Path(folder)))
    lines = ",\n".join(json.dumps(claim, ensure_ascii=False) for claim in claims)
    return "\n".join(head + [row_of(claim) for claim in papers]) + "\n", f"[\n{lines}\n]\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the table into README.md, and write claims.json")
    parser.add_argument("--check", action="store_true", help="fail where README.md has another table, or claims.json is another")
    arguments = parser.parse_args()
    (table, claims), readme, file = made(), ROOT / "README.md", ROOT / CLAIMS
    text = readme.read_text()
    if (arguments.write or arguments.check) and text.count(BEGIN) + text.count(END) != 2:
        sys.exit(f"README.md: has no place for the table; write {BEGIN.strip()} and {END.strip()}")
    if arguments.write:
        readme.write_text(text[: text.index(BEGIN)] + BEGIN + table + text[text.index(END):])
        file.write_text(claims)
    elif arguments.check:
        if text[text.index(BEGIN) + len(BEGIN): text.index(END)] != table:
            sys.exit("README.md: its table of claims is not that of the committed results; tools/paper-claims.py --write")
        if not file.exists() or file.read_text() != claims:
            sys.exit(f"{CLAIMS}: is not that of the committed results; tools/paper-claims.py --write")
    else:
        print(table, end="")


if __name__ == "__main__":
    main()
