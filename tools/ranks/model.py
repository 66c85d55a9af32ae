"""What a training step of several ranks takes, from what its parts take. Times in seconds, sizes in bytes.

A step computes for `whole` seconds; from `wait` on it needs the sums of all gradients. Sums run one after another beside
the backward pass, each as soon as its gradients are complete. A sum costs the processor time (messages, copies and
additions, which keep it from computing) and the network time (which passes beside the computation).
"""
import math
from dataclasses import dataclass

PIECE = 4 << 20  # a larger sum runs in pieces of so many bytes (core/distributed/mpi.cpp)
ALGORITHMS = ("ring", "tree")


@dataclass(frozen=True)
class Link:
    """What a message costs: so much each, and so much a byte."""
    message: float
    byte: float

    def __mul__(self, factor):
        return Link(factor * self.message, factor * self.byte)


@dataclass(frozen=True)
class Timeline:
    """A step as one rank computes it with its share of the batch; `sums` are (bytes, when its gradients are complete)."""
    whole: float
    wait: float
    sums: tuple

    @property
    def bytes(self):
        return sum(size for size, _ in self.sums)


def messages_of(ranks, size, algorithm):
    """The messages of a rank that follow each other, and the bytes in them all.

    ring   each rank passes on 1/n of the numbers, n - 1 times while they are added and n - 1 times when they are sums
    tree   all numbers go to rank 0 over log2 n levels and come back (what Open MPI does unless asked for another)
    """
    if ranks == 1:
        return 0, 0.0
    if algorithm == "ring":
        return 2 * (ranks - 1), 2 * (ranks - 1) / ranks * size
    depth = math.ceil(math.log2(ranks))
    return 2 * depth, 2.0 * depth * size


def share_of_device(ranks, algorithm):
    """How many times as long a byte takes where all ranks send through one device: 2 (n - 1) times the numbers in all."""
    return 2 * (ranks - 1) / messages_of(ranks, 1, algorithm)[1]


def time_of_sum(link, ranks, size, algorithm):
    pieces = max(1, math.ceil(size / PIECE))
    messages, moved = messages_of(ranks, size, algorithm)
    return pieces * messages * link.message + moved * link.byte


def time_of_step(timeline, ranks, processor, network, algorithm):
    """`processor` and `network` are the Links of the two kinds of cost."""
    busy, end = 0.0, 0.0
    for size, complete in timeline.sums:
        own = time_of_sum(processor, ranks, size, algorithm)
        end = max(end, complete + busy) + own + time_of_sum(network, ranks, size, algorithm)
        busy += own
    return timeline.whole + busy + max(0.0, end - (timeline.wait + busy))


def between(first, second, weight):
    """The timeline at `weight` of the way from one batch size to another."""
    def mix(a, b):
        return a + weight * (b - a)
    return Timeline(mix(first.whole, second.whole), mix(first.wait, second.wait),
                    tuple((size, mix(at, later)) for (size, at), (_, later) in zip(first.sums, second.sums)))


def timeline_at(measured, cases):
    """From {cases: Timeline}: that of any number between the smallest and the largest, on straight lines."""
    sizes = sorted(measured)
    if not sizes[0] <= cases <= sizes[-1]:
        raise ValueError(f"{cases} cases: measured were {sizes[0]} to {sizes[-1]}")
    above = next(size for size in sizes if size >= cases)
    if above == cases:
        return measured[above]
    below = max(size for size in sizes if size < cases)
    return between(measured[below], measured[above], (cases - below) / (above - below))


def fit_link(sums):
    """The Link that explains measured [(ranks, bytes, seconds, algorithm)] with the least relative error, squared."""
    aa = ab = bb = at = bt = 0.0
    for ranks, size, seconds, algorithm in sums:
        messages, moved = messages_of(ranks, size, algorithm)
        a, b = messages / seconds, moved / seconds
        aa, ab, bb, at, bt = aa + a * a, ab + a * b, bb + b * b, at + a, bt + b
    determinant = aa * bb - ab * ab
    message, byte = (at * bb - bt * ab) / determinant, (aa * bt - ab * at) / determinant
    return Link(max(message, 0.0), max(byte, 0.0))


def fit_factor(steps):
    """By how much sums cost more in a step than alone, where their numbers are in the cache: the factor that explains
    measured [(seconds of a step, of them computation, of them sums if they cost as much as alone)] with the least
    relative error, squared."""
    return (sum((whole - computed) * sums / whole ** 2 for whole, computed, sums in steps) /
            sum((sums / whole) ** 2 for whole, _, sums in steps))


def speed_up(measured, batch, machines, scaling, processor, network):
    """How many times as many cases a second as on one machine, and the faster algorithm; None where strong scaling
    leaves a machine without a case.

    strong   the batch is divided among the machines;  weak   each machine has a whole one
    """
    share = batch if scaling == "weak" else batch / machines
    if share < 1:
        return None
    alone = timeline_at(measured, batch).whole
    timeline = timeline_at(measured, math.ceil(share))  # the machine with the largest share
    times = {name: time_of_step(timeline, machines, processor, network, name) for name in ALGORITHMS}
    best = min(times, key=times.get)
    return alone / times[best] * (machines if scaling == "weak" else 1), best
