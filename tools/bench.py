#!/usr/bin/python3
"""Lamina beside PyTorch: both train the same case, and a table has the ratios of their times.

Lamina and each mode of PyTorch stay in memory as processes of their own and take turns in bursts of a few steps, so that
whatever slows the machine meets all. The time of a side is the lower quartile of its bursts, since neighbours only ever
add time; the ratio is that of PyTorch's fastest mode to Lamina's, with a 95% bootstrap interval over the turns (of at least 8),
and "too noisy" where the interval is wider than 5%; where the system put the processes in memory, which moves them by some
percent for as long as they live, is not in it. The speed of the multiply-add units, for the share of peak, is measured in
the same turns. PyTorch runs with the malloc settings that make it fastest; without it (Debian: python3-torch) or its
script only Lamina is timed.

Example: tools/bench.py --case lstm gru --json runs/bench.json
"""
import argparse
import json
import os
import sys

from bench_turns import (PEERS, TOP, bench_steps, chosen, has_torch, interval_text, listed, lower_part, machine, pytorch,
                         quartile_of, ratio_to_first, take_turns)

# Of layers that PyTorch has; all others also run under torch.jit.
EAGER = {(case, variant) for case in ("mnist_mlp_b128", "mnist_mlp_b4", "convnet") for variant in ("none", "ln", "bn", "wn")}
RECURRENT = ("lstm", "gru", "order_embedding", "attentive_reader")  # whose plain layer PyTorch has: nn.LSTM or nn.GRU
OWN_PEERS = {case: os.path.join(PEERS, "torch_transformer.py")
             for case in ("transformer", "transformer_small", "transformer_write", "transformer_small_write")}  # the other cases are in the script that --peer names


def peer_of(args, case):
    """PyTorch's script that has this case, or None."""
    peer = OWN_PEERS.get(case, args.peer)
    return peer if args.has_torch and os.path.exists(peer) else None


def modes_of(case, variant):
    """(variant of PyTorch's script, flags) of each way in which it can run. Its "none-cell" is the plain recurrent layer as a loop,
    which has been faster than nn.GRU."""
    if (case, variant) in EAGER:
        return [(variant, [])]
    if case in RECURRENT and variant == "none":
        return [("none", []), ("none-cell", []), ("none-cell", ["--jit"])]
    return [(variant, []), (variant, ["--jit"])]


def peers(args, case, variant):
    """PyTorch in each of its modes, warmed up."""
    script = peer_of(args, case)
    if script is None:
        return []
    return [pytorch(args.python, script, case, name, args.threads, flags) for name, flags in modes_of(case, variant)]


def compare(args, case, variant):
    """A row of the table."""
    sides = [bench_steps(args.program, case, variant, args.threads), *peers(args, case, variant)]
    peaks = []
    turns, facts = take_turns(sides, args.bursts, args.burst, lambda: peaks.append(float(sides[0].ask("peak"))))
    ms = quartile_of(turns, 0)
    row = {"case": case, "variant": variant, "ms": ms, "peer_ms": None, "ratio": None, "interval": None,
           "too_noisy": False, "fraction": 1e3 * facts[0]["gflop"] / ms / lower_part(peaks, 0.75),
           "rss": facts[0]["peak_rss_mb"], "peer_rss": None, "backend": facts[0]["backend"]}
    if len(sides) > 1:
        best = min(range(1, len(sides)), key=lambda side: quartile_of(turns, side))
        ratio, interval, too_noisy = ratio_to_first([turns], best)
        row.update(peer_ms=quartile_of(turns, best), ratio=ratio, interval=interval, too_noisy=too_noisy,
                   peer_rss=facts[best]["peak_rss_mb"])
    return row


def print_table(rows):
    print("| case | variant | Lamina ms | PyTorch ms | PyTorch / Lamina | 95% interval | share of peak | variant / none | "
          "MB | PyTorch's MB |\n|---|---|---|---|---|---|---|---|---|---|")
    plain = {row["case"]: row["ms"] for row in rows if row["variant"] == "none"}
    for row in rows:
        cost = f"{row['ms'] / plain[row['case']]:.2f}" if row["case"] in plain else ""
        share = f"{100 * row['fraction']:.0f}%" if row["fraction"] else ""
        peer = ratio = interval = memory = ""
        if row["ratio"]:
            peer, memory = f"{row['peer_ms']:.2f}", f"{row['peer_rss']:.0f}"
            ratio = "too noisy" if row["too_noisy"] else f"{row['ratio']:.2f}"
            interval = interval_text(row["interval"])
        print(f"| {row['case']} | {row['variant']} | {row['ms']:.2f} | {peer} | {ratio} | {interval} | "
              f"{share} | {cost} | {row['rss']:.0f} | {memory} |")


def write_json(args, rows):
    """Writes the file that lamina report shows; under another name first, so that it is never read half-written."""
    os.makedirs(os.path.dirname(os.path.abspath(args.json)), exist_ok=True)
    measured = {"machine": machine(), "backend": rows[0]["backend"], "bursts": args.bursts,
                "seconds": args.burst, "load": os.getloadavg()[0], "rows": rows}
    with open(args.json + ".new", "w") as file:
        json.dump(measured, file, indent=1)
        file.write("\n")
    os.replace(args.json + ".new", args.json)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", nargs="+", help="all by default; build/bench_steps --list shows them")
    parser.add_argument("--variant", nargs="+", help="of these cases (default: all that PyTorch's script has)")
    parser.add_argument("--bursts", type=int, default=40, help="of each side (default: 40)")
    parser.add_argument("--burst", type=float, default=0.15, metavar="SECONDS", help="length of one, or one step (default: 0.15)")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of each side (default: one per core)")
    parser.add_argument("--program", default=os.path.join(TOP, "build", "bench_steps"))
    parser.add_argument("--peer", default=os.path.join(os.path.dirname(TOP), "shared", "peers", "torch", "bench.py"),
                        help="PyTorch's script with the same cases, but for those of tools/peers; tools/peers/torch_turns.py "
                             "says what is in it (default: %(default)s)")
    parser.add_argument("--python", default="/usr/bin/python3", help="interpreter that has torch")
    parser.add_argument("--json", metavar="FILE", help="also write the numbers there, for lamina report")
    args = parser.parse_args()
    if args.bursts < 1 or args.threads < 1 or not 0 < args.burst < 1000:
        parser.error("--bursts and --threads are at least 1, --burst is a number of seconds above 0")
    variants = {each["case"]: each["beside_pytorch"] for each in listed(args.program) if each["beside_pytorch"]}
    args.case = chosen(parser, args.case, variants)
    names = [(case, variant) for case in args.case for variant in variants[case]
             if variant in (args.variant or variants[case])]
    if not names:
        parser.error(f"{', '.join(args.case)}: no variant {' or '.join(args.variant)} beside PyTorch; "
                     f"{args.program} --list shows them")
    args.has_torch = has_torch(args.python)
    if alone := [case for case in args.case if not peer_of(args, case)]:
        missing = (f"{args.peer}, a script with these models in PyTorch, is not part of Lamina and missing (--peer FILE names "
                   "another one)" if args.has_torch else f"{args.python} has no torch (Debian: python3-torch; --python)")
        print(f"{missing}: only Lamina is timed in {', '.join(alone)}")
    rows = []
    try:
        for case, variant in names:
            rows.append(compare(args, case, variant))
    finally:  # a side that ends in the middle, or Ctrl-C, takes no finished rows with it
        if rows:
            print(f"\n{rows[0]['backend']}; {args.bursts} bursts of {args.burst} s, sides in turn; load "
                  f"{os.getloadavg()[0]:.1f} at the end\n")
            print_table(rows)
    if args.json:
        write_json(args, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
