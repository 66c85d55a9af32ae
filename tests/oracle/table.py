"""The results of many cases, by category."""
import math

import numpy

from measure import LEAST

FEW = 20  # cases of a category; with fewer its mean is not significant


class Category:
    def __init__(self):
        self.cases = self.failed = 0
        self.ours, self.theirs = [], []  # the errors of all tensors
        self.ratios = []                 # one per case: the mean logarithm of ours over theirs
        self.worst = 0.0                 # ours over theirs, the latter counted as at least one unit

    def add(self, found, wrong):
        self.cases += 1
        self.failed += bool(wrong)
        pairs = [(max(d.ours, LEAST), max(d.theirs, LEAST)) for d in found if d.ours < math.inf]
        if pairs:
            self.ours += [ours for ours, _ in pairs]
            self.theirs += [theirs for _, theirs in pairs]
            self.ratios.append(float(numpy.mean([math.log(ours / theirs) for ours, theirs in pairs])))
            self.worst = max(self.worst, *(ours / max(theirs, 1.0) for ours, theirs in pairs))

    def excess(self):
        """The geometric mean of ours over theirs, and whether it is above 1 beyond chance."""
        ratios = numpy.array(self.ratios)
        error = ratios.std() / math.sqrt(len(ratios)) if len(ratios) else 0
        return math.exp(ratios.mean()) if len(ratios) else 1.0, len(ratios) >= FEW and ratios.mean() > 3 * error + 1e-9


def geometric(errors):
    return math.exp(numpy.log(errors).mean()) if errors else 0.0


class Table:
    def __init__(self):
        self.categories, self.skipped = {False: {}, True: {}}, 0

    def skip(self, number):
        self.skipped += 1
        print(f"skipped case {number}: every draw was too close to a kink")

    def add(self, case, found, wrong):
        self.categories[case.double].setdefault(case.category, Category()).add(found, wrong)

    def counts(self):
        """Cases and, in float, the means of categories that passed and failed."""
        every = [c for kind in self.categories.values() for c in kind.values()]
        failed = sum(c.failed for c in every) + sum(c.excess()[1] for c in self.categories[False].values())
        return sum(c.cases for c in every) + len(self.categories[False]) - failed, failed

    def caught(self, by_category):
        """How many planted faults were found, and how many there were: cases, or categories."""
        kinds = [c for double in self.categories.values() for c in double.values()]
        if by_category:
            return sum(c.excess()[1] for c in kinds), sum(len(c.ratios) >= FEW for c in kinds)
        return sum(c.failed for c in kinds), sum(c.cases for c in kinds)

    def print(self):
        for double, kinds in self.categories.items():
            if not kinds:
                continue
            print(f"\n{'double' if double else 'float'}, errors in units of its last place"
                  f"{'; PyTorch in float, whose units are larger' if double else ''}")
            print(f"{'':20} {'cases':>6} {'failed':>6} {'largest':>10} {'PyTorch':>10} {'geo. mean':>10} {'PyTorch':>10}"
                  + ("" if double else f" {'ratio':>6} {'worst':>6}"))
            for name, c in sorted(kinds.items()):
                ratio, above = c.excess()
                print(f"{name:20} {c.cases:6} {c.failed:6} {max(c.ours, default=0):10.4g} {max(c.theirs, default=0):10.4g}"
                      f" {geometric(c.ours):10.3f} {geometric(c.theirs):10.3f}"
                      + ("" if double else f" {ratio:6.3f} {c.worst:6.1f}") + ("  ABOVE" if above and not double else ""))
        print()
