"""Operands that meet by axes, powers and activations, and ops over one axis: core/ops."""
import math

import torch
from torch.nn import functional as F

from case import ANY, GENTLE, SCALED, WIDTHS, kind, truth

# --- Operands of different shapes.


truth("maximum")(lambda at, a, b: torch.maximum(a, b))
truth("minimum")(lambda at, a, b: torch.minimum(a, b))
truth("where")(lambda at, mask, a, b: torch.where(mask != 0, a, b))


def operands(d):
    """Two shapes that broadcast: each axis is in both, or repeated in one of them; leading ones may be missing."""
    sizes = [d.pick([1, 2, 3]), d.pick([2, 5]), d.pick([2, 3, 7, 16]), d.pick(WIDTHS)][-d.pick([2, 3, 3, 4]):]
    shapes = [list(sizes), list(sizes)]
    for axis in range(len(sizes)):
        repeated = d.pick([None, None, 0, 1])
        if repeated is not None:
            shapes[repeated][axis] = 1
    shorter = d.pick([0, 1])
    if all(shape[-1] != 1 for shape in shapes):  # columns of a different rank may be refused
        while shapes[shorter][0] == 1:
            shapes[shorter].pop(0)
    return [tuple(shape) if math.prod(shape) > 1 else (1,) for shape in shapes]  # the rank of a number does not count


@kind("broadcasting", 2)
def by_axes(d):
    d.start("broadcasting")
    first, second = operands(d)
    op = d.pick(["add", "subtract", "multiply", "divide", "maximum", "minimum", "where"])
    style = d.pick(ANY)
    a = d.leaf("a", first, style)
    b = d.leaf("b", second, d.pick([style, "plain"]), sign=0.25 if op == "divide" else None)
    result = tuple(torch.broadcast_shapes(first, second))
    given = [a, b]
    if op == "where":
        mask = d.data.integers(0, 2, result)
        given = [d.constant("mask", mask, exact=True), a, b]
    y = d.call(op, given)
    d.answer(y, result, measure="element")


# --- Powers and activations. PyTorch's gelu far below zero suffers from cancellation.

HALF = math.sqrt(0.5)
truth("number_over")(lambda at, x: at["number"] / x)
truth("pow")(lambda at, x: x.pow(at["number"]))
truth("clamp")(lambda at, x: x.clamp(-at["number"], at["number"]))
truth("erf")(lambda at, x: x.erf())
truth("gelu")(lambda at, x: x * torch.erfc(x * -HALF) * 0.5)
truth("gelu_tanh")(lambda at, x: x * torch.sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
truth("silu")(lambda at, x: F.silu(x))
truth("softplus")(lambda at, x: F.softplus(x, threshold=1000))
truth("leaky_relu")(lambda at, x: F.leaky_relu(x, at["number"]))

ACTIVATIONS = ["plain", "uniform", "tiny", "small", "zeros", "ties"]
FUNCTIONS = {
    "number_over": ["positive", "near one", "powers"],
    "pow": ["positive", "near one"],
    "clamp": ANY,
    "erf": ACTIVATIONS + ["saturated"],
    "gelu": ACTIVATIONS,
    "gelu_tanh": ACTIVATIONS,
    "silu": ACTIVATIONS + ["saturated"],
    "softplus": ACTIVATIONS,
    "leaky_relu": ANY,
}


@kind("activations", 2)
def activation(d):
    d.start("activations")
    op = d.pick(sorted(FUNCTIONS))
    shape = d.shape(empty=True)
    x = d.leaf("x", shape, d.pick(FUNCTIONS[op]), sign=1e-15 if op in ("number_over", "pow") else None)
    number = d.pick([0.5, 1.0, 1.5, 3.0])
    y = d.call(op, [x], number=number)
    d.answer(y, shape, measure="element")
    # The derivatives of gelu and silu cross zero.
    d.measure("tensor" if op in ("gelu", "gelu_tanh", "silu") else "element", "d x")


# --- Over one axis.

truth("sum_over")(lambda at, x: x.sum(at["axis"]))
truth("mean_over")(lambda at, x: x.mean(at["axis"]))
truth("variance_over")(lambda at, x: x.var(at["axis"], unbiased=False))
truth("max_over")(lambda at, x: x.max(at["axis"]).values)
truth("min_over")(lambda at, x: x.min(at["axis"]).values)
truth("softmax_over")(lambda at, x: x.softmax(at["axis"]))
truth("log_softmax_over")(lambda at, x: x.log_softmax(at["axis"]))
truth("log_sum_exp_over")(lambda at, x: x.logsumexp(at["axis"]))

OVER = {
    "sum_over": ANY,
    "mean_over": ANY,
    "variance_over": GENTLE + SCALED,
    "max_over": ["plain", "tiny", "huge"],  # no ties, for which PyTorch does not specify the gradient
    "min_over": ["plain", "tiny", "huge"],
    "softmax_over": GENTLE + ["saturated", "mean 100", "wide"],
    "log_softmax_over": GENTLE + ["saturated", "mean 100", "wide"],
    "log_sum_exp_over": GENTLE + ["saturated", "mean 100", "wide"],
}


@kind("along an axis", 2)
def along_an_axis(d):
    d.start("along an axis")
    op = d.pick(sorted(OVER))
    shape = d.shape()
    axis = d.between(0, len(shape) - 1)
    x = d.leaf("x", shape, d.pick(OVER[op]))
    y = d.call(op, [x], axis=d.pick([axis, axis - len(shape)]))
    d.answer(y, shape if "softmax" in op else shape[:axis] + shape[axis + 1:])


# --- Ops that rearrange elements.

truth("permute")(lambda at, x: x.permute(at["axes"]))
truth("stack")(lambda at, *parts: torch.stack(parts, at["axis"]))
truth("pad")(lambda at, x: F.pad(x, [n for pair in reversed(at["padding"]) for n in pair], value=at["number"]))


@kind("structure", 0.7)
def moved(d):
    d.start("structure")
    op = d.pick(["permute", "stack", "pad"])
    shape = d.shape() if op != "stack" else d.sizes()
    x = d.leaf("x", shape, d.pick(ANY))
    if op == "permute":
        axes = d.shape_of_case.permutation(len(shape)).tolist()
        y, result = d.call(op, [x], axes=axes), tuple(shape[axis] for axis in axes)
    elif op == "stack":
        axis = d.between(-3, 2)
        y = d.call(op, [x, d.leaf("other", shape), x], axis=axis)
        result = tuple(shape)[:axis % 3] + (3,) + tuple(shape)[axis % 3:]
    else:
        padding = [[d.between(0, 3), d.between(0, 3)] for _ in shape]
        y = d.call(op, [x], padding=padding, number=d.pick([0.0, 2.5]))
        result = tuple(low + size + high for size, (low, high) in zip(shape, padding))
    d.answer(y, result, measure="element")
