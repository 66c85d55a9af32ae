"""Optimizers, gradient clipping and learning-rate schedules."""
import math

import numpy
import torch

from case import WIDTHS, kind, truth


def split(at, tensors):
    """The parameters, and for each step their gradients."""
    count = at["parameters"]
    tensors = [t.detach().clone() for t in tensors]
    return tensors[:count], [tensors[k:k + count] for k in range(count, len(tensors), count)]


def train(optimizer, parameters, gradients):
    for step in gradients:
        for parameter, gradient in zip(parameters, step):
            parameter.grad = gradient
        optimizer.step()
    return tuple(p.detach() for p in parameters)


@truth("sgd")
def sgd(at, *tensors):
    parameters, gradients = split(at, tensors)
    return train(torch.optim.SGD(parameters, lr=at["learning_rate"], momentum=at["momentum"],
                                 nesterov=at["nesterov"], weight_decay=at["weight_decay"]), parameters, gradients)


@truth("adam")
def adam(at, *tensors):
    parameters, gradients = split(at, tensors)
    common = {"lr": at["learning_rate"], "betas": (at["beta1"], at["beta2"]), "eps": at["epsilon"]}
    if "rows" not in at:
        return train(torch.optim.AdamW(parameters, weight_decay=at["weight_decay"], **common), parameters, gradients)
    lazy, dense = LazyAdam(at, parameters[0]), torch.optim.Adam(parameters[1:], **common) if parameters[1:] else None
    for step, rows in zip(gradients, at["rows"]):
        lazy.step(step[0], torch.tensor(rows, dtype=torch.long))
        for parameter, one in zip(parameters[1:], step[1:]):
            parameter.grad = one
        if dense:
            dense.step()
    return tuple(parameters)


class LazyAdam:
    """Adam on some rows; PyTorch's SparseAdam adds epsilon in a different place."""

    def __init__(self, at, table):
        self.at, self.table, self.steps = at, table, 0
        self.first, self.second = torch.zeros_like(table), torch.zeros_like(table)

    def step(self, gradient, rows):
        self.steps += 1
        b1, b2, g = self.at["beta1"], self.at["beta2"], gradient[rows]
        self.first[rows] = self.first[rows] * b1 + g * (1 - b1)
        self.second[rows] = self.second[rows] * b2 + g * g * (1 - b2)
        root = self.second[rows].sqrt() / math.sqrt(1 - b2 ** self.steps) + self.at["epsilon"]
        self.table[rows] -= self.at["learning_rate"] / (1 - b1 ** self.steps) * self.first[rows] / root


@truth("clip_gradient_norm")
def clip_gradient_norm(at, *tensors):
    _, (gradients,) = split(at, tensors)
    norms = torch.stack([torch.linalg.vector_norm(g) for g in gradients])
    limit = at["limit"]
    scale = lambda norm: torch.clamp(limit / norm, max=1.0)
    if at["each"]:
        return tuple(g * scale(n) for g, n in zip(gradients, norms))
    norm = torch.linalg.vector_norm(norms)
    return *(g * scale(norm) for g in gradients), norm.reshape(1)


@truth("step_schedule")
def step_schedule(at, like):
    step = torch.tensor([s // at["interval"] for s in at["at"]], dtype=like.dtype)
    return at["initial"] * torch.tensor(at["factor"], dtype=like.dtype) ** step


@truth("cosine_schedule")
def cosine_schedule(at, like):
    def rate(step):
        if step < at["warmup"]:
            return at["initial"] * (step + 1) / at["warmup"]
        if step >= at["steps"]:
            return at["final"]
        done = (step - at["warmup"]) / (at["steps"] - at["warmup"])
        return at["final"] + (at["initial"] - at["final"]) * (1 + math.cos(math.pi * done)) / 2
    return torch.tensor([rate(s) for s in at["at"]], dtype=torch.float64).to(like.dtype)


def gradient(d, shape, style, rows=None):
    values = d.numbers(shape, style)
    if rows is not None:
        kept = numpy.zeros_like(values)
        kept[rows] = values[rows]
        values = kept
    return values


def model(d, lazy=False):
    """Names of the parameters and of the gradients of some steps; with `lazy` the rows of w0 used in each."""
    shapes = [tuple(d.sizes(limit=4000)) if lazy or d.chance(0.5) else (d.pick(WIDTHS),) for _ in range(d.between(1, 3))]
    for i, shape in enumerate(shapes):
        d.constant(f"w{i}", d.numbers(shape, d.pick(["plain", "small", "plain"])))
    style, names, rows = d.pick(["plain", "small", "tiny", "scaled rows", "sparse"]), [f"w{i}" for i in range(len(shapes))], []
    for step in range(d.between(1, 5)):
        used = sorted(set(d.data.integers(0, shapes[0][0], 5).tolist())) if lazy else None
        rows.append(used)
        for i, shape in enumerate(shapes):
            names.append(d.constant(f"g{i}_{step}", gradient(d, shape, style, used if i == 0 else None)))
    return shapes, names, rows


def answer_all(d, shapes, prefix="y"):
    for i, shape in enumerate(shapes):
        d.answer(f"{prefix}{i}", shape, seed=False)


@kind("optimizers", 1)
def sgd_steps(d):
    d.start("optimizers")
    shapes, names, _ = model(d)
    momentum = d.pick([0.0, 0.5, d.uniform(0, 0.99)])
    d.call("sgd", names, [f"y{i}" for i in range(len(shapes))], parameters=len(shapes), learning_rate=d.power(-4, 0),
           momentum=momentum, nesterov=momentum > 0 and d.chance(0.4), weight_decay=d.pick([0.0, d.power(-4, -1)]))
    answer_all(d, shapes)


@kind("optimizers", 1)
def adam_steps(d):
    d.start("optimizers")
    lazy = d.chance(0.3)
    shapes, names, rows = model(d, lazy)
    d.call("adam", names, [f"y{i}" for i in range(len(shapes))], parameters=len(shapes), learning_rate=d.power(-4, 0),
           beta1=d.pick([0.0, 0.5, 0.875, float(numpy.float32(0.9))]), beta2=d.pick([0.5, float(numpy.float32(0.999))]),
           epsilon=d.power(-8, -2), weight_decay=0.0 if lazy else d.pick([0.0, d.power(-4, -1)]),
           **({"rows": rows} if lazy else {}))
    answer_all(d, shapes)


@kind("optimizers", 0.7)
def clipped(d):
    d.start("optimizers")
    shapes = [d.shape() for _ in range(d.between(1, 4))]
    style = d.pick(["plain", "small", "tiny", "huge", "scaled rows", "sparse"])
    names = [d.constant(f"w{i}", d.numbers(s)) for i, s in enumerate(shapes)]
    names += [d.constant(f"g{i}", d.numbers(s, style) + numpy.float32(1e-20)) for i, s in enumerate(shapes)]
    each = d.chance(0.4)
    outputs = [f"y{i}" for i in range(len(shapes))] + ([] if each else ["norm"])
    d.call("clip_gradient_norm", names, outputs, parameters=len(shapes), each=each, limit=d.power(-2, 2))
    answer_all(d, shapes)
    if not each:
        d.answer("norm", (1,), seed=False)


@kind("optimizers", 0.3)
def schedules(d):
    d.start("optimizers")
    like, at = d.constant("like", d.numbers((1,))), d.data.integers(0, 2000, d.between(1, 20)).tolist()
    if d.chance(0.5):
        d.call("step_schedule", [like], initial=d.power(-5, 0), factor=d.uniform(0.1, 0.99), interval=d.between(50, 1000),
               at=at)
    else:
        warmup = d.between(0, 300)
        d.call("cosine_schedule", [like], initial=d.power(-4, 0), final=d.power(-6, -3), warmup=warmup,
               steps=warmup + d.between(1, 1500), at=at)
    d.answer("y", (len(at),), seed=False)
