#!/usr/bin/env python3
"""The least time that the machine allows a training step of each large case, and the share of it that Lamina reaches.

The limit is a sum, as if nothing overlapped (tools/bench/limits.md derives it):

  products     FLOPs / peak of the multiply-add units
  gates        evaluations of exp, sigmoid and tanh / their measured rate
  numbers      what the backward pass needs and what Adam moves, in bytes / bandwidth of L3, or of memory for the share
               that L3 cannot hold
  weights      of recurrent layers, read again at every step, in bytes / bandwidth of their level

The machine's rates (build/bench_machine) and the steps (build/bench_steps) are measured in turns, since neighbours slow both.

Example: tools/bench/limits.py --case lstm gru
"""
import argparse
import json
import os
import sys
import time
from dataclasses import dataclass, field

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tools"))
from bench_turns import REST, Resident, bench_steps, lower_part, quartile_of, take_turns  # noqa: E402

L2, L3 = 2e6, 32e6  # bytes, of all cores
REAL = 4


@dataclass
class Work:
    """What a step needs beside its products. `kept` counts numbers that the backward pass needs."""
    sigmoid: float = 0
    tanh: float = 0
    exp: float = 0
    kept: float = 0
    weights: list = field(default_factory=list)  # (bytes of a recurrent layer's weights, how often they are read)

    def __add__(self, other):
        return Work(self.sigmoid + other.sigmoid, self.tanh + other.tanh, self.exp + other.exp, self.kept + other.kept,
                    self.weights + other.weights)


def lstm(variant, steps, rows, hidden):
    """Three sigmoids, the tanh of g and that of c; f, i, o, g, c and h are kept. Under layer norm both summed inputs of
    the gates, c and h are, and the gates are evaluated again."""
    cells = steps * rows * hidden
    weights = [(REAL * hidden * 4 * hidden, 2 * steps)]
    if variant == "ln":
        return Work(sigmoid=6 * cells, tanh=3 * cells, kept=10 * cells, weights=weights)
    return Work(sigmoid=3 * cells, tanh=2 * cells, kept=6 * cells, weights=weights)


def gru(variant, steps, rows, hidden):
    """Two sigmoids and a tanh; z, r, n, h and n's part of W_h h are kept. Under layer norm as in an LSTM."""
    cells = steps * rows * hidden
    weights = [(REAL * hidden * 3 * hidden, 2 * steps)]
    if variant == "ln":
        return Work(sigmoid=4 * cells, tanh=2 * cells, kept=7 * cells, weights=weights)
    return Work(sigmoid=2 * cells, tanh=cells, kept=5 * cells, weights=weights)


def convnet(variant):
    rows, pixels = 128, 28 * 28
    maps = pixels * 32 + pixels // 4 * 32 + pixels // 4 * 64 + pixels // 16 * 64  # convolved and pooled, twice
    return Work(kept=rows * (maps + 512 + 10), exp=rows * 10)


def draw(variant):
    """Both LSTMs, the canvas (a sigmoid at every glimpse), and filters of 2 and 5 rows for either axis of 28 pixels."""
    glimpses, rows, pixels = 64, 128, 28 * 28
    both = lstm("none", glimpses, rows, 256) + lstm("none", glimpses, rows, 256)  # layer norm of c only
    return both + Work(sigmoid=glimpses * rows * pixels, exp=glimpses * rows * 2 * (2 + 5) * 28,
                       kept=glimpses * rows * (pixels + 200))


def handwriting(variant):
    """Three LSTMs, a window of 10 Gaussians over 30 characters, and a mixture of 20 with its 121 outputs."""
    steps, rows = 500, 8
    layers = lstm(variant, steps, rows, 400)
    points = steps * rows
    return layers + layers + layers + Work(exp=points * (10 * 30 + 5 * 20), kept=points * (2 * 30 + 121))


def order_embedding(variant):
    steps, rows = 15, 128
    return gru(variant, steps, rows, 1024) + Work(kept=steps * rows * 300 + 2 * rows * 1024 + rows * rows)


def attentive_reader(variant):
    rows, width = 64, 240
    read = lstm(variant, 200, rows, width) + lstm(variant, 30, rows, width)
    attention = Work(tanh=200 * rows * width, exp=200 * rows, kept=200 * rows * width)
    return read + attention + Work(exp=rows * 500, kept=230 * rows * width + rows * 500)  # words, answers


def skip_thoughts(variant):
    steps, rows, words = 20, 64, 20000
    grus = gru(variant, steps, rows, 2400)
    logits = 2 * steps * rows * words
    return grus + grus + grus + Work(exp=logits, kept=logits + 3 * steps * rows * 620)


CASES = {
    "mnist_mlp_b128": lambda variant: Work(kept=128 * (1000 + 1000 + 10), exp=128 * 10),
    "lstm": lambda variant: lstm(variant, 100, 32, 256),
    "gru": lambda variant: gru(variant, 100, 32, 256),
    "convnet": convnet,
    "draw": draw,
    "order_embedding": order_embedding,
    "attentive_reader": attentive_reader,
    "handwriting": handwriting,
    "skip_thoughts": skip_thoughts,
}


def limit(facts, work, rates):
    """Milliseconds of each part, and the share of the numbers that the caches cannot hold."""
    state = 4 * REAL * facts["params"]  # value, gradient and both moments
    beyond = max(0, 1 - L3 / (state + REAL * work.kept))
    # Kept numbers are written, and read backward; so are their gradients. Adam reads four numbers a parameter and
    # writes three; a product has written the gradient.
    moved = 4 * REAL * work.kept + 8 * REAL * facts["params"]
    again = sum(size * times / rates["L3" if size <= L3 else "memory"] for size, times in work.weights if size > L2)
    return {"products": 1e3 * facts["gflop"] / rates["gflops"],
            "gates": 1e-6 * sum(getattr(work, name) / rates[name] for name in ("exp", "sigmoid", "tanh")),
            "numbers": 1e-6 * moved * ((1 - beyond) / rates["L3"] + beyond / rates["memory"]),
            "weights": 1e-6 * again}, beyond


def measure(args, case, variant):
    """Both programs in turns: the step's facts, its milliseconds, and the rates."""
    steps = bench_steps(args.program, case, variant, args.threads)
    machine = Resident([args.machine, "--threads", str(args.threads), "--bursts"])
    rates = []

    def measure_rates():
        time.sleep(REST)
        rates.append(json.loads(machine.ask("again")))

    turns, (facts,) = take_turns([steps], args.bursts, args.burst, measure_rates)
    machine.close()
    best = {name: lower_part([each[name] for each in rates], 0.75) for name in rates[0]}
    return facts, quartile_of(turns, 0), best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", nargs="+", choices=CASES, default=list(CASES), metavar="CASE",
                        help=f"of {', '.join(CASES)} (default: all)")
    parser.add_argument("--variant", nargs="+", choices=("none", "ln"), default=["none", "ln"], metavar="VARIANT",
                        help="none or ln (default: both)")
    parser.add_argument("--bursts", type=int, default=20, help="of each program (default: 20)")
    parser.add_argument("--burst", type=float, default=0.1, metavar="SECONDS", help="length of one, or one step (default: 0.1)")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="default: one per core")
    parser.add_argument("--program", default=os.path.join(TOP, "build", "bench_steps"))
    parser.add_argument("--machine", default=os.path.join(TOP, "build", "bench_machine"))
    args = parser.parse_args()
    if args.bursts < 1 or args.threads < 1 or not 0 < args.burst < 1000:
        parser.error("--bursts and --threads are at least 1, --burst is a number of seconds above 0")
    print("| case | variant | GFLOP | products ms | gates ms | numbers ms | beyond L3 | weights ms | limit ms | measured ms | share | "
          "products alone |\n|---|---|---|---|---|---|---|---|---|---|---|---|")
    for case in args.case:
        for variant in args.variant:
            facts, ms, rates = measure(args, case, variant)
            parts, beyond = limit(facts, CASES[case](variant), rates)
            whole = sum(parts.values())
            print(f"| {case} | {variant} | {facts['gflop']:.1f} | {parts['products']:.2f} | {parts['gates']:.2f} | "
                  f"{parts['numbers']:.2f} | {100 * beyond:.0f}% | {parts['weights']:.2f} | {whole:.2f} | {ms:.2f} | "
                  f"{100 * whole / ms:.0f}% | {100 * parts['products'] / ms:.0f}% |", flush=True)
    shown = ", ".join(f"{name} {rates[name]:.3g}" for name in ("gflops", "exp", "sigmoid", "tanh", "L2", "L3", "memory"))
    print(f"\nrates of {args.threads} threads in the last row (GFLOP/s, elements per ns, GB/s): {shown}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
