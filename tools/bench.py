#!/usr/bin/python3
"""Lamina beside PyTorch: runs the cases of both in turn and prints a table of ratios.

Every round runs a case of Lamina, then the same case of PyTorch in each of its modes; the ratio of a round is
PyTorch's fastest mode over Lamina, and the table gives the median over the rounds with the smallest and largest.
Both sides run with OPENBLAS_CORETYPE unset, so that OpenBLAS picks its own kernels, and PyTorch with the malloc
settings that make it fastest. Without PyTorch (Debian: python3-torch) or its script only Lamina's times are printed.

Example: tools/bench.py --case lstm gru --rounds 5 --json runs/bench.json
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

from bench_cases import chosen, listed

SCRIPTED = {("lstm", "ln"), ("gru", "ln"), ("draw", "none"), ("draw", "ln"),
            ("handwriting", "none"), ("handwriting", "ln"), ("order_embedding", "ln"),
            ("attentive_reader", "ln"),
            ("skip_thoughts", "none"), ("skip_thoughts", "ln"),
            *((case, variant) for case in ("transformer", "transformer_small") for variant in ("none", "ln", "rms")),
            ("transformer_write", "ln"), ("transformer_small_write", "ln")}  # PyTorch cases that also run under torch.jit
TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OWN_PEERS = {case: os.path.join(TOP, "tools", "peers", "torch_transformer.py")
             for case in ("transformer", "transformer_small", "transformer_write", "transformer_small_write")}  # the other cases are in the script that --peer names
TUNED_MALLOC = {"MALLOC_MMAP_THRESHOLD_": "4294967296", "MALLOC_TRIM_THRESHOLD_": "8589934592",
                "MALLOC_TOP_PAD_": "67108864"}


def environment(tuned):
    env = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    return {**env, **TUNED_MALLOC} if tuned else env


def measure(command, tuned=False):
    """The JSON line that one run prints, or None when it fails."""
    done = subprocess.run(command, env=environment(tuned), capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        print(f"failed: {' '.join(command)}\n{done.stderr.strip()[-400:]}", file=sys.stderr)
        return None
    return json.loads(lines[-1])


def peer_modes(case, variant):
    return [[], ["--jit"]] if (case, variant) in SCRIPTED else [[]]


def peer_of(args, case):
    """PyTorch's script that has this case, or None."""
    peer = OWN_PEERS.get(case, args.peer)
    return peer if args.has_torch and os.path.exists(peer) else None


def compare(args, case, variant):
    """Medians of both sides and the ratio of each round."""
    ours, theirs, ratios, last = [], [], [], None
    for _ in range(args.rounds):
        last = measure([args.program, "--case", case, "--variant", variant, "--seconds", str(args.seconds)])
        if last is None:
            return None
        ours.append(last["ms_per_step"])
        if peer := peer_of(args, case):
            runs = [measure([args.python, peer, "--case", case, "--variant", variant, "--seconds",
                             str(args.seconds), *mode], tuned=True) for mode in peer_modes(case, variant)]
            times = [run["ms_per_step"] for run in runs if run]
            if times:
                theirs.append(min(times))
                ratios.append(min(times) / ours[-1])
    return {"case": case, "variant": variant, "ms": statistics.median(ours), "ratios": ratios,
            "peer_ms": statistics.median(theirs) if theirs else None, "fraction": last["fraction_of_peak"],
            "rss": last["peak_rss_mb"], "backend": last["backend"]}


def print_table(rows):
    print("| case | variant | Lamina ms | PyTorch ms | PyTorch / Lamina | min to max | step's share of peak, last round | "
          "variant / none | peak RSS MB |\n|---|---|---|---|---|---|---|---|---|")
    plain = {row["case"]: row["ms"] for row in rows if row["variant"] == "none"}
    for row in rows:
        peer = "" if row["peer_ms"] is None else f"{row['peer_ms']:.2f}"
        ratio = f"{statistics.median(row['ratios']):.2f}" if row["ratios"] else ""
        spread = f"{min(row['ratios']):.2f} to {max(row['ratios']):.2f}" if row["ratios"] else ""
        cost = f"{row['ms'] / plain[row['case']]:.2f}" if row["case"] in plain else ""
        print(f"| {row['case']} | {row['variant']} | {row['ms']:.2f} | {peer} | {ratio} | {spread} | "
              f"{100 * row['fraction']:.0f}% | {cost} | {row['rss']:.0f} |")


def machine():
    """The processor's name, as reported by Linux."""
    with open("/proc/cpuinfo") as cpuinfo:
        names = [line.split(":", 1)[1].strip() for line in cpuinfo if line.startswith("model name")]
    return f"{os.cpu_count()} cores of {names[0]}" if names else f"{os.cpu_count()} cores"


def write_json(args, rows):
    """Writes the file that lamina report shows; under another name first, so that it is never read half-written."""
    os.makedirs(os.path.dirname(os.path.abspath(args.json)), exist_ok=True)
    measured = {"machine": machine(), "backend": rows[0]["backend"], "rounds": args.rounds,
                "seconds": args.seconds, "load": os.getloadavg()[0], "rows": rows}
    with open(args.json + ".new", "w") as file:
        json.dump(measured, file, indent=1)
        file.write("\n")
    os.replace(args.json + ".new", args.json)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", nargs="+", help="all by default; build/bench_steps --list shows them")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2, help="measured per run")
    parser.add_argument("--program", default=os.path.join(TOP, "build", "bench_steps"))
    parser.add_argument("--peer", default=os.path.join(TOP, "..", "shared", "peers", "torch", "bench.py"),
                        help="PyTorch's script with the same cases, but for those of tools/peers")
    parser.add_argument("--python", default="/usr/bin/python3", help="interpreter that has torch")
    parser.add_argument("--json", metavar="FILE", help="also write the numbers there, for lamina report")
    args = parser.parse_args()
    variants = {each["case"]: each["beside_pytorch"] for each in listed(args.program) if each["beside_pytorch"]}
    args.case = chosen(parser, args.case, variants)
    args.has_torch = subprocess.run([args.python, "-c", "import torch"], capture_output=True).returncode == 0
    if alone := [case for case in args.case if not peer_of(args, case)]:
        print("PyTorch or its script is missing (Debian: python3-torch; --peer FILE): only Lamina is timed in "
              + ", ".join(alone))
    rows = [row for case in args.case for variant in variants[case] if (row := compare(args, case, variant))]
    if rows:
        print(f"\n{rows[0]['backend']}; {args.rounds} rounds of {args.seconds} s, interleaved; load "
              f"{os.getloadavg()[0]:.1f} at the end\n")
        print_table(rows)
        if args.json:
            write_json(args, rows)
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
