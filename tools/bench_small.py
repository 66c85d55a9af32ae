#!/usr/bin/python3
"""Small batches and inference on one thread: Lamina beside PyTorch, dlib and C++ written by hand.

Two tables: training steps (forward, loss, backward, Adam) of each model at batch 1, 4 and 16, and the forward pass of one case
with what it takes from the heap. The models are in tools/peers/small_case.h, the other sides in tools/peers. All stay in
memory and take turns in bursts, as in tools/bench.py, and are started again some times, since where the system puts a process in
memory moves it by some percent. Times are lower quartiles of all bursts, and each cell has the peer's time, its ratio to
Lamina's (above 1: Lamina is faster) and a 95% bootstrap interval of the ratio over starts and bursts, "too noisy" in place of a
ratio whose interval is wider than 5%. Of PyTorch's modes, eager and torch.jit, the faster one is shown. A side that is not there (Debian:
python3-torch, libdlib-dev; tools/install-deps.sh --bench, then make small-programs) is left out.

Example: tools/bench_small.py --model lstm gru --kind b1 one
"""
import argparse
import os
import sys

from bench_turns import (PEERS, TOP, Resident, has_torch, interval_text, machine, pytorch, quartile_of, ratio_to_first,
                         take_turns)

MODELS = ["mlp", "lstm", "gru", "convnet", "transformer"]
KINDS = ["b1", "b4", "b16", "one"]
PROGRAMS = {"dlib": ["mlp", "convnet"], "by hand": ["mlp", "lstm", "gru", "convnet"]}  # and the models that each has
ONE_THREAD = {"OMP_NUM_THREADS": "1"}


def program_of(args, peer):
    return os.path.join(args.build, "peers", peer.replace(" ", "_"))


def peers_of(args, model, case):
    """(name, side) of everything beside Lamina; PyTorch once for each of its modes."""
    sides = []
    if args.has_torch:
        script = os.path.join(PEERS, "torch_small.py")
        sides += [("PyTorch", pytorch(args.python, script, case, "none", 1, mode)) for mode in ([], ["--jit"])]
    return sides + [(peer, Resident([program_of(args, peer), "--case", case], ONE_THREAD))
                    for peer, models in PROGRAMS.items() if peer in args.peers and model in models]


def compare(args, model, kind):
    """{side: {"ms", "params", "allocations", and of peers "ratio", "interval", "too_noisy"}} of one case."""
    case = f"{model}_{kind}"
    starts = []
    for _ in range(args.starts):
        names, sides = zip(("Lamina", Resident([os.path.join(args.build, "bench_small"), "--case", case])),
                           *peers_of(args, model, case))
        turns, facts = take_turns(sides, args.bursts, args.burst)
        starts.append(turns)
    row, turns = {}, [turn for start in starts for turn in start]
    for place, name in enumerate(names):
        ms = quartile_of(turns, place)
        if name in row and row[name]["ms"] <= ms:
            continue
        row[name] = {"ms": ms, "params": facts[place]["params"], "allocations": facts[place].get("allocations")}
        if place > 0:
            ratio, interval, too_noisy = ratio_to_first(starts, place)
            row[name].update(ratio=ratio, interval=interval, too_noisy=too_noisy)
    return row


def time_of(ms):
    """In microseconds, with three digits at least."""
    return f"{1e3 * ms:.0f}" if ms >= 0.1 else f"{1e3 * ms:.1f}"


def cell_of(side):
    if side is None:
        return "-"
    ratio = "too noisy" if side["too_noisy"] else f"**{side['ratio']:.2f}**"
    return f"{time_of(side['ms'])}: {ratio} ({interval_text(side['interval'])})"


def print_table(rows, peers, inference):
    columns = ["model"] + (["Lamina", "allocations"] if inference else ["batch", "Lamina"]) + peers
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    for model, kind, row in rows:
        first = time_of(row["Lamina"]["ms"])
        cells = [model] + ([first, f"{row['Lamina']['allocations']:g}"] if inference else [kind[1:], first])
        print("| " + " | ".join(cells + [cell_of(row.get(peer)) for peer in peers]) + " |")


def print_sizes(rows, peers):
    """How many parameters each side's model has."""
    print("\nparameters:")
    for model in dict.fromkeys(model for model, _, _ in rows):
        row = next(row for name, _, row in rows if name == model)
        counts = [f"{side} {row[side]['params']}" for side in ["Lamina", *peers] if side in row]
        print(f"- {model}: {', '.join(counts)}")


def print_all(args, rows, peers):
    print(f"\n{machine()}; one thread; {args.starts} starts of {args.bursts} bursts of {args.burst} s, sides in turn; "
          f"load {os.getloadavg()[0]:.1f} at the end")
    for inference, title in ((False, "training steps, microseconds"), (True, "inference of one case, microseconds")):
        if some := [row for row in rows if (row[1] == "one") == inference]:
            print(f"\n{title}\n")
            print_table(some, peers, inference)
    print_sizes(rows, peers)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", nargs="+", choices=MODELS, default=MODELS, help="all by default")
    parser.add_argument("--kind", nargs="+", choices=KINDS, default=KINDS,
                        help="batch sizes of training steps, and one: inference of one case (default: all)")
    parser.add_argument("--starts", type=int, default=4, help="of all processes (default: 4)")
    parser.add_argument("--bursts", type=int, default=12, help="of each side after each start (default: 12)")
    parser.add_argument("--burst", type=float, default=0.05, metavar="SECONDS", help="length of one, or one step (default: 0.05)")
    parser.add_argument("--build", default=os.path.join(TOP, "build"), help="where bench_small and peers/ are")
    parser.add_argument("--python", default="/usr/bin/python3", help="interpreter that has torch")
    args = parser.parse_args()
    if args.bursts < 1 or args.starts < 1 or not 0 < args.burst < 1000:
        parser.error("--starts and --bursts are at least 1, --burst is a number of seconds above 0")
    if not os.path.exists(os.path.join(args.build, "bench_small")):
        parser.error(f"no bench_small in {args.build}; `make small-programs` builds it")
    args.has_torch = has_torch(args.python)
    args.peers = [peer for peer in PROGRAMS if os.path.exists(program_of(args, peer))]
    peers = ["PyTorch"] * args.has_torch + args.peers
    if missing := [peer for peer in ["PyTorch", *PROGRAMS] if peer not in peers]:
        print(f"left out: {', '.join(missing)} (tools/install-deps.sh --bench, then make small-programs)")
    rows = []
    try:
        for model in args.model:
            for kind in args.kind:
                rows.append((model, kind, compare(args, model, kind)))
    finally:  # a side that ends in the middle, or Ctrl-C, takes no finished rows with it
        if rows:
            print_all(args, rows, peers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
