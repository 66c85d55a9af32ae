#!/usr/bin/env python3
"""A case of a PyTorch script as a process that takes turns with others (tools/bench.py).

Answers every word on standard input in a line: a number of seconds with the mean milliseconds of a step in a burst of so
long, "facts" with JSON. SCRIPT has either `make_step(args)`, which gives a model and its step, or models in CASES, each
with batch() and forward(*batch), the loss; those of plain recurrent layers have a variant "none-cell" beside "none", a loop
in place of nn.LSTM or nn.GRU.

Example: echo 0.1 0.1 facts | tools/peers/torch_turns.py tools/peers/torch_transformer.py --case transformer_small
"""
import argparse
import importlib.util
import json
import os
import sys
import time

import torch


def loaded(script):
    spec = importlib.util.spec_from_file_location("peer", script)
    module = importlib.util.module_from_spec(spec)
    sys.modules["peer"] = module  # torch.jit looks up the classes that it compiles
    spec.loader.exec_module(module)
    return module


def training_step(model, loss_of, lr, foreach=None):
    """Forward, backward and Adam for the loss that loss_of() computes; for scripts with a make_step(), too."""
    adam = torch.optim.Adam(model.parameters(), lr=lr, foreach=foreach)

    def step():
        adam.zero_grad(set_to_none=True)
        loss_of().backward()
        adam.step()

    return step


def step_of_model(peer, args):
    """A training step of one of the script's CASES."""
    if args.case not in peer.CASES:
        sys.exit(f"{args.script} has no case {args.case}, only {', '.join(peer.CASES)}; for a script of its own a case stands "
                 "in OWN_PEERS of tools/bench.py")
    model = peer.CASES[args.case](args.variant, args.jit)
    batch = model.batch()
    step = training_step(model, lambda: model(*batch), args.lr)
    step()
    peer.check_grads(model)
    return model, step


def burst(step, seconds):
    """The first step is not counted, since caches hold what the other program left."""
    step()
    begin, steps = time.perf_counter(), 0
    while steps == 0 or time.perf_counter() - begin < seconds:
        step()
        steps += 1
    return 1e3 * (time.perf_counter() - begin) / steps


def peak_rss_mb():
    """Of this program alone: getrusage begins with the peak of the process that started it."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("script", metavar="SCRIPT")
    parser.add_argument("--case", required=True)
    parser.add_argument("--variant", default="none")
    parser.add_argument("--jit", action="store_true", help="scripted or traced, as SCRIPT does it")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--lr", type=float, default=1e-5, help="repeating one batch must not drift into another regime")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(0)
    peer = loaded(args.script)
    model, step = peer.make_step(args) if hasattr(peer, "make_step") else step_of_model(peer, args)
    for line in sys.stdin:
        for word in line.split():
            if word == "facts":
                print(json.dumps({"params": sum(p.numel() for p in model.parameters()),
                                  "peak_rss_mb": peak_rss_mb()}), flush=True)
            else:
                print(burst(step, float(word)), flush=True)


if __name__ == "__main__":
    main()
