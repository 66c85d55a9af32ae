#!/usr/bin/env python3
"""Computes every committed study again, from its file and numbers.json alone: what is chosen, the pairs, Student's interval,
the verdicts and when levels were reached, and compares verdicts.json, variants.csv and summary.md. Shares no code with models/evidence.

    recomputed.py ROOT    fails where something differs
"""
import csv
import itertools
import json
import math
import pathlib
import re
import statistics
import sys

CONFIDENCE, FEWEST_PAIRS, SIGNIFICANT = 0.96, 3, 0.05
compared, wrong = 0, []


def expect(what, committed, computed):
    global compared
    compared += 1
    numbers = isinstance(committed, float) and isinstance(computed, float)
    if not (math.isclose(committed, computed, rel_tol=1e-9, abs_tol=1e-12) if numbers else committed == computed):
        wrong.append(f"FAILED: {what} is {committed}, and {computed} when computed again")


def student_t(freedom):
    """With t = sqrt(freedom) tan u the density is cos(u)^(freedom - 1): Simpson's rule, and halving."""
    def area(end, steps=1000):
        weights = (1 if i in (0, steps) else 4 if i % 2 else 2 for i in range(steps + 1))
        return end / steps / 3 * sum(weight * math.cos(i * end / steps) ** (freedom - 1) for i, weight in enumerate(weights))
    low, high, whole = 0.0, math.pi / 2, area(math.pi / 2)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if area(middle) < CONFIDENCE * whole else (low, middle)
    return math.sqrt(freedom) * math.tan(low)


def fisher(a, b, n):
    """Fisher's exact test of a of n against b of n: the sum of all that is no more likely than what was seen."""
    chances = [math.comb(n, i) * math.comb(n, a + b - i) if 0 <= a + b - i <= n else 0 for i in range(n + 1)]
    return sum(chance for chance in chances if chance <= chances[a]) / sum(chances)


class Run:
    def __init__(self, kept, higher):
        self.finished, self.higher = kept["outcome"] == "finished", higher
        self.tables = [kept[name] for name in ("curves", "recorded", "test") if name in kept]

    def table(self, metric):
        return next((table for table in self.tables if metric in table), {metric: []})

    def best_row(self, metric):
        sign = -1 if metric in self.higher else 1
        rows = [(sign * value, row) for row, value in enumerate(self.table(metric)[metric]) if value is not None]
        return min(rows)[1] if rows else None

    def take(self, metric, how="last"):
        """The number that counts, or None."""
        table = self.table(metric)
        values, where = table[metric], re.fullmatch("where (.*) is best", how)
        if where and (row := self.best_row(where[1])) is not None:
            step = self.table(where[1])["step"][row]
            earlier = [value for value, at in zip(values, table.get("step", [step])) if at <= step]
            return earlier[-1] if earlier else None
        if how == "best" and (row := self.best_row(metric)) is not None:
            return values[row]
        if how.startswith("mean of last ") and values:
            last = values[-int(how.split()[-1]):]
            return None if None in last else statistics.fmean(last)
        return values[-1] if how == "last" and values else None

    def time_to(self, metric, goal, count="step"):
        """The first number in the column `count` when the metric was as good as the goal, or None."""
        table, higher = self.table(metric), metric in self.higher
        return next((time for time, value in zip(table.get(count, table["step"]), table[metric])
                     if value is not None and (value >= goal if higher else value <= goal)), None)


class Study:
    def __init__(self, results):
        self.file = json.loads((results.parent.parent / "studies" / f"{results.name}.json").read_text())
        named = json.loads((results / "study.json").read_text())["combinations"]
        kept = json.loads((results / "numbers.json").read_text())["runs"]
        self.claims, self.seeds, self.higher = self.file.get("claims", []), self.file["seeds"], self.file.get("higher_is_better", [])
        self.variants = {}  # name: settings, in the order of the file
        for grid in self.file["variants"] if isinstance(self.file["variants"], list) else [self.file["variants"]]:
            for values in itertools.product(*(value if isinstance(value, list) else [value] for value in grid.values())):
                settings = dict(zip(grid, values))
                self.variants[next(name for name in named if named[name] == settings)] = settings
        self.runs = {name: {seed: Run(kept[f"{name}-seed{seed}"], self.higher) for seed in self.seeds if f"{name}-seed{seed}" in kept}
                     for name in self.variants}

    def chosen(self, wanted):
        """The variant with these settings; where there are several that of the best median."""
        several = [name for name, own in self.variants.items() if wanted.items() <= own.items()]
        if len(several) == 1:
            return several[0]
        metric, seeds = self.file["choose"], self.seeds[:self.file.get("choose_seeds", len(self.seeds))]

        def median(name):
            best = [run.take(metric, "best") if run.finished else None for seed, run in self.runs[name].items() if seed in seeds]
            middle = statistics.median(math.inf if value is None else -value if metric in self.higher else value for value in best)
            return float(f"{middle:.12g}")  # equal ones may differ by the rounding of a mean of two
        return min(several, key=median)

    def failed(self, run):
        limit = self.file.get("limit")
        if not run.finished or not limit:
            return not run.finished
        value, worst = run.take(limit["metric"]), limit["worst"]
        return value is None or (value < worst if limit["metric"] in self.higher else value > worst)

    def judge(self, claim):
        """What verdicts.json should say, and the rows of the claim's table in summary.md."""
        kind, metric = next(kind for kind in ("lower", "higher", "faster") if kind in claim), claim["metric"]
        sides = [self.chosen(claim[kind]), self.chosen(claim["than"])]
        seeds = [seed for seed in self.seeds if all(seed in self.runs[side] for side in sides)]
        pairs = [[self.runs[side][seed] for side in sides] for seed in seeds]
        take = "best" if kind == "faster" else claim.get("take", "last")
        numbers = [[run.take(metric, take) if run.finished else None for run in pair] for pair in pairs]
        verdict = {"claim": claim["claim"], "answer": "cannot be told", "subject": sides[0], "other": sides[1], "n": len(pairs)}
        lost = [sum(not pair[side].finished for pair in pairs) for side in (0, 1)]
        if any(None in pair for pair in numbers):
            if sum(pair.count(None) for pair in numbers) > sum(lost):
                return verdict, None  # one finished without a number
            better = kind == "faster" or (kind == "higher") == (metric in self.higher)
            if len(pairs) >= FEWEST_PAIRS and fisher(*lost, len(pairs)) < SIGNIFICANT:
                verdict["answer"] = "holds" if (lost[0] < lost[1]) == better else "does not hold"
            return verdict, None
        if kind == "faster":
            goals = [(min if metric in self.higher else max)(pair) for pair in numbers]
            numbers = [[run.time_to(metric, goal) for run in pair] for pair, goal in zip(pairs, goals)]
        ratio = kind == "faster" or "times" in claim
        if ratio and min(sum(numbers, []), default=1) <= 0:
            return verdict, None
        compare = (lambda a, b: a / b) if ratio else (lambda a, b: a - b)
        effects = [compare(*(pair if kind == "higher" else pair[::-1])) for pair in numbers]
        rows = [row_of(seed, *map(float, pair), effect) for seed, pair, effect in zip(seeds, numbers, effects)]
        logs = [math.log(effect) for effect in effects] if ratio else effects
        if len(pairs) >= FEWEST_PAIRS and statistics.stdev(logs) > 1e-12 * max(map(abs, sum(numbers, []))):
            least, back = (math.log(claim.get("times", 1)), math.exp) if ratio else (claim.get("by", 0), float)
            mean, reach = statistics.fmean(logs), student_t(len(pairs) - 1) * statistics.stdev(logs) / math.sqrt(len(pairs))
            verdict["answer"] = "holds" if mean - reach > least else "does not hold" if mean + reach < least else "cannot be told"
            verdict.update({"ratio" if ratio else "difference": back(mean), "low": back(mean - reach), "high": back(mean + reach)})
        return verdict, rows


def row_of(*cells):
    return "| " + " | ".join(f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in cells) + " |"


def check_claims(name, study, committed, summary):
    expect(f"{name}: number of claims", len(committed), len(study.claims))
    for number, (claim, verdict) in enumerate(zip(study.claims, committed), 1):
        verdict.update(zip(("low", "high"), verdict.get("interval", [])))
        computed, rows = study.judge(claim)
        for key, value in computed.items():
            expect(f"{name}: claim {number}: {key}", verdict.get(key), value)
        section = summary.split(f"### Claim {number}: ")[1].split("\n#")[0]
        if rows:
            expect(f"{name}: claim {number}: pairs", [line for line in section.splitlines() if re.match(r"\| \d", line)], rows)
        words = computed["answer"] + "**"
        if "low" in computed:
            kind = "ratio" if "ratio" in computed else "difference"
            shown = [float(f"{computed[key]:.10g}") for key in (kind, "low", "high")]  # rounded as verdicts are, then again
            words += ": mean {} {:.3g}, 96% interval {:.3g} to {:.3g} ".format(kind, *shown)
        expect(f"{name}: claim {number}: '{words}' in summary.md", "**" + words in section, True)


def check_variants(name, study, table, summary):
    # The file alone is read here, so it says what else the table of the experiments' metrics does.
    expect(f"{name}: 'higher_is_better' of its metrics", re.findall(r"(?m)^### (\S+) \(higher is better\)", summary),
           [metric for metric in study.file["metrics"] if metric in study.higher])
    expect(f"{name}: variants", len(table), len(study.variants))
    for row, (variant, runs) in zip(table, study.runs.items()):
        expect(f"{name}: {variant}: runs", [int(row["runs"]), int(row["failed"])], [len(runs), sum(map(study.failed, runs.values()))])
        finished = [run for run in runs.values() if run.finished]
        for metric in study.file["metrics"]:
            cells = [variant, len(finished), len(runs) - len(finished)]
            for how in ("last", "best"):
                numbers = [value for value in (run.take(metric, how) for run in finished) if value is not None]
                for end, computed in zip(("", "_low", "_high"), (statistics.median, min, max) if numbers and how == "last" else ()):
                    expect(f"{name}: {variant}: {metric}{end}", float(row[metric + end]), float(computed(numbers)))
                cells += [statistics.median(numbers), statistics.fmean(numbers)] if numbers else ["-", "-"]
                cells.append(statistics.stdev(numbers) if len(numbers) > 1 else "-")
            section = summary.split("## Variants\n")[1].split(f"### {metric}")[1].split("\n#")[0]
            expect(f"{name}: {metric}", [line for line in section.splitlines() if line.startswith(f"| {variant} |")], [row_of(*cells)])


def check_levels(name, study, summary):
    for metric, levels in study.file.get("levels", {}).items():
        rows = []
        for variant, runs in study.runs.items():
            rows.append([variant])
            for level in levels:
                came = [time for run in runs.values() if (time := run.time_to(metric, level, "epoch")) is not None]
                middle = statistics.median(came + (len(runs) - len(came)) * [math.inf])
                cell = "-" if middle == math.inf else f"{middle:.4g} ({min(came):.4g} to {max(came):.4g})"
                rows[-1].append(cell + (f", {len(came)} of {len(runs)}" if 0 < len(came) < len(runs) else ""))
        section = summary.split("## Levels\n")[1].split(f"### {metric}\n")[1].split("\n#")[0]
        expect(f"{name}: levels of {metric}", section.strip().splitlines()[2:], [row_of(*row) for row in rows])


for results in sorted(path.parent for path in pathlib.Path(sys.argv[1]).glob("models/*/results/*/numbers.json")):
    its_study, its_summary = Study(results), (results / "summary.md").read_text()
    if its_study.claims:
        check_claims(results.name, its_study, json.loads((results / "verdicts.json").read_text()), its_summary)
    with open(results / "variants.csv") as its_table:
        check_variants(results.name, its_study, list(csv.DictReader(its_table)), its_summary)
    check_levels(results.name, its_study, its_summary)
print(*wrong, f"{compared - len(wrong)} numbers of committed studies agree, {len(wrong)} differ", sep="\n")
sys.exit(bool(wrong) or compared == 0)
