#!/usr/bin/python3
"""Compares Lamina with PyTorch in random cases: values and gradients of ops, layers, cells, optimizers and graphs.

The truth is what PyTorch computes in float64 from the same numbers. Lamina's error stands beside that of PyTorch's own
float result (measure.py says in which units). A case fails when Lamina's is more than four times PyTorch's, in double
when it is more than 1e-12 for each unit of PyTorch's. A category fails when the geometric mean of Lamina's errors is
above that of PyTorch's by more than chance explains (three standard errors).

Luck is not a verdict: a case that seems too wrong is repeated, its tensors scaled by factors between 0.9 and 1, and
judged by the root mean square over all repetitions and itself.

    tests/oracle/oracle.py --float build/oracle-answers --cases 3000      # as make oracle CASES=3000
    tests/oracle/oracle.py --float build/oracle-answers --seed 1 --case 17   # one case, in detail
"""
import argparse
import resource
import sys
import time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--float", help="the program that answers in float")
    parser.add_argument("--double", help="the program that answers in double")
    parser.add_argument("--cases", type=int, default=30000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="only this case, in detail")
    parser.add_argument("--plant", choices=["ulps", "gradient", "noise"], help="spoil every answer: the run must fail")
    chosen = parser.parse_args()
    if not chosen.float and not chosen.double:
        parser.error("name a program: --float PATH, --double PATH")
    return chosen


options = arguments()
try:
    import torch
except ImportError:
    print("oracle: this Python has no PyTorch, all cases are skipped; tools/install-deps.sh --bench installs Debian's")
    print(f"0 passed, 0 failed, {options.cases} skipped")
    sys.exit(0)

from judge import Judge, never_drawn
from plant import PLANTS
from program import Program
from table import Table


def repeat_command(number):
    given = "".join(f" --{name} {getattr(options, name)}" for name in ("float", "double", "plant")
                    if getattr(options, name))
    return f"tests/oracle/oracle.py{given} --seed {options.seed} --case {number}"


def run(judge, numbers, table, report=True):
    """Checks the cases and enters them into the table."""
    for number in numbers:
        case, truth = judge.draw(options.seed, number)
        if case is None:
            table.skip(number)
            continue
        found, wrong = judge.judge(case, truth, number)
        if judge.spoil and not judge.planted:
            continue
        table.add(case, found, wrong)
        if wrong and report:
            print(f"FAILED  case {number}, {case.category} ({case.program[-1]['op']}): {wrong}\n"
                  f"        again: {repeat_command(number)}", flush=True)


def show(judge, number):
    """One case in detail."""
    case, truth = judge.draw(options.seed, number)
    if case is None:
        print(f"case {number}: no numbers away from a kink were found")
        return 1
    found, wrong = judge.judge(case, truth, number)
    print(f"case {number}, {case.category}: {case.describe()}")
    for one in found:
        print(f"  {one.name:30} {one.ours:12.4g} units, PyTorch {one.theirs:.4g}")
    print(f"FAILED  {wrong}" if wrong else "passed")
    return 1 if wrong else 0


def self_test(programs):
    """Faults that are planted must be found: (found, missed)."""
    found = missed = 0
    for name, (spoil, cases) in PLANTS.items():
        table = Table()
        run(Judge(programs, spoil), range(cases), table, report=False)
        caught, total = table.caught(by_category=name == "noise")
        print(f"planted {name}: {caught} of {total} found")
        found, missed = found + caught, missed + total - caught
    return found, missed


def main():
    torch.set_num_threads(1)
    programs = {double: Program(path) for double, path in ((False, options.float), (True, options.double)) if path}
    try:
        judge = Judge(programs, PLANTS[options.plant][0] if options.plant else None)
        if options.case is not None:
            return show(judge, options.case)
        table = Table()
        run(judge, range(options.cases), table)
        table.print()
        passed, failed = table.counts()
        undrawn = never_drawn()
        for op in undrawn:
            print(f"FAILED  no case has the op {op}; a @kind must draw it")
        failed += len(undrawn)
        if not options.plant:
            found, missed = self_test(programs)
            passed, failed = passed + found, failed + missed
        for program in programs.values():
            program.close()
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"seed {options.seed}, {time.process_time() + children.ru_utime + children.ru_stime:.0f} s of CPU")
        print(f"{passed} passed, {failed} failed" + (f", {table.skipped} skipped" if table.skipped else ""))
        return 1 if failed else 0
    finally:
        for program in programs.values():
            program.close()


if __name__ == "__main__":
    sys.exit(main())
