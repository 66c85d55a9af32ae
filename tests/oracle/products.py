"""Products of matrices, the layers made from them, softmax and the losses."""
import numpy
import torch
from torch.nn import functional as F

from case import ANY, GENTLE, SCALED, SHIFTED, WIDTHS, kind, truth
from images import native_batch_norm


@truth("matmul")
def matmul(at, a, b):
    return (a.transpose(-1, -2) if at.get("transpose_a") else a) @ (b.transpose(-1, -2) if at.get("transpose_b") else b)


@truth("linear")
def linear(at, x, weight, bias=None):
    return F.linear(x, weight.t(), bias)


@truth("linear_layer")
def linear_layer(at, x, weight, *others):
    """Parameters in the layer's own order: weight, or direction and gain, then bias."""
    others = list(others)
    if at["weights"] == "weight":
        weight = weight_norm(at, weight, others.pop(0))
    if at["weights"] == "weight-standardized":
        weight = weight_standardization(at, weight, others.pop(0))
    return linear(at, x, weight, *others)


@truth("weight_norm", "composed_weight_norm")
def weight_norm(at, v, gain):
    return v * (gain / v.square().sum(0).sqrt())


@truth("weight_standardization", "composed_weight_standardization")
def weight_standardization(at, v, gain):
    columns = v.reshape(-1, v.shape[-1])
    n = native_batch_norm(columns, None, None, at.get("epsilon", 1e-10))
    return (n * (gain / len(columns) ** 0.5)).reshape(v.shape)


@truth("weight_norm_linear")
def weight_norm_linear(at, x, v, gain, bias=None):
    return linear(at, x, weight_norm(at, v, gain), bias)


def product_sizes(d):
    """m, k, n: seldom large."""
    if d.chance(0.02):
        return d.pick([(300, 513, 257), (128, 1000, 784), (2000, 64, 33), (17, 3000, 129), (513, 300, 512)])
    sizes = [d.pick(WIDTHS) for _ in range(3)]
    while sizes[0] * sizes[1] * sizes[2] > 2_000_000:
        largest = sizes.index(max(sizes))
        sizes[largest] = d.pick([1, 2, 7, 8, 16, 17, 31, 33])
    return tuple(sizes)


@kind("products", 3)
def product(d):
    d.start("products")
    m, k, n = product_sizes(d)
    style = d.pick(ANY)
    transpose_a, transpose_b = d.chance(0.3), d.chance(0.4)
    leading = (m,) if transpose_a or d.chance(0.7) or m % 2 else (m // 2, 2)
    a = d.leaf("a", (k, m) if transpose_a else leading + (k,), style)
    b = d.leaf("b", (n, k) if transpose_b else (k, n), d.pick(["plain", "small", style]))
    y = d.call("matmul", [a, b], transpose_a=transpose_a, transpose_b=transpose_b)
    d.answer(y, leading + (n,))
    if d.chance(0.1):
        d.use_again(b, (n, k) if transpose_b else (k, n))


@kind("products", 1.5)
def batched_product(d):
    """One product for each index of the leading axes, which may be broadcast."""
    d.start("products")
    sizes = [d.pick(WIDTHS[:17]) for _ in range(3)]
    while sizes[0] * sizes[1] * sizes[2] > 100_000:
        sizes[sizes.index(max(sizes))] = d.pick([1, 2, 7, 8, 16, 17])
    m, k, n = sizes
    whole = tuple(d.pick([1, 2, 3, 5]) for _ in range(d.pick([1, 2])))
    leading_of = lambda: tuple(1 if d.chance(0.2) else size for size in whole)
    leading_a, leading_b = leading_of(), leading_of()
    if len(whole) == 2 and d.chance(0.3):
        leading_a, leading_b = d.pick([(leading_a[1:], leading_b), (leading_a, leading_b[1:])])
    leading = numpy.broadcast_shapes(leading_a, leading_b)
    transpose_a, transpose_b = d.chance(0.3), d.chance(0.4)
    style = d.pick(ANY)
    a = d.leaf("a", leading_a + ((k, m) if transpose_a else (m, k)), style)
    b = d.leaf("b", leading_b + ((n, k) if transpose_b else (k, n)), d.pick(["plain", "small", style]))
    d.answer(d.call("matmul", [a, b], transpose_a=transpose_a, transpose_b=transpose_b), leading + (m, n))


@kind("products", 3)
def linear_function(d):
    d.start("products")
    m, k, n = product_sizes(d)
    leading = (m,) if d.chance(0.7) or m % 2 else (2, m // 2)
    x = d.leaf("x", leading + (k,), d.pick(ANY))
    weight = d.leaf("weight", (k, n), d.pick(["plain", "small"]))
    inputs = [x, weight] + ([d.leaf("bias", (n,), d.pick(["plain", "mean 100"]))] if d.chance(0.7) else [])
    y = d.call("linear", inputs)
    d.answer(y, leading + (n,), d.pick(GENTLE + ["mean 100"]))


@kind("products", 0.3)
def long_linear(d):
    """Many rows, whose sum is the gradient of the bias."""
    d.start("products")
    rows, k, n = d.pick([3000, 10000, 40000, 100000]), d.pick([1, 2, 5]), d.pick([1, 3, 8, 17])
    x = d.leaf("x", (rows, k), "plain")
    y = d.call("linear", [x, d.leaf("weight", (k, n)), d.leaf("bias", (n,))])
    d.answer(y, (rows, n), d.pick(["plain", "mean 100", "positive"]))


@kind("weight norm", 1)
def normalized_weight(d):
    d.start("weight norm")
    k, n = d.sizes()
    v = d.leaf("v", (k, n), d.pick(GENTLE + SHIFTED), sign=0.01 if d.chance(0.3) else None)
    gain = d.leaf("gain", (n,), "plain")
    if d.chance(0.4):
        y = d.call(d.pick(["weight_norm", "composed_weight_norm"]), [v, gain])
        d.answer(y, (k, n))
    else:
        m = d.pick(WIDTHS[:16])
        inputs = [d.leaf("x", (m, k), d.pick(ANY)), v, gain] + ([d.leaf("bias", (n,))] if d.chance(0.5) else [])
        y = d.call("weight_norm_linear", inputs)
        d.answer(y, (m, n))
    # A column of zeros has no direction: NaN in both, which cannot be compared.
    d.case.tensors["v"] = d.case.tensors["v"] + (d.case.tensors["v"] == 0)


@kind("weight norm", 0.7)
def standardized_weights(d):
    d.start("weight norm")
    shape = (d.between(1, 5), d.between(1, 5)) * d.chance(0.4) + d.sizes()
    v = d.leaf("v", shape, d.pick(GENTLE + SHIFTED), view=0)
    y = d.call("composed_" * d.chance(0.3) + "weight_standardization", [v, d.leaf("gain", shape[-1:])],
               epsilon=d.pick([1e-10, 1e-5]))
    d.answer(y, shape)


@kind("layers", 1)
def layer_linear(d):
    d.start("layers")
    m, k, n = product_sizes(d)
    kinds = {"weight": "none", "direction": "weight", "raw_weight": "weight-standardized"}
    kind_of_weight, with_bias = d.pick(list(kinds)), d.chance(0.7)
    x = d.leaf("x", (m, k), d.pick(ANY))
    names = ["layer." + kind_of_weight] + ["layer.gain"] * (kind_of_weight != "weight")
    names += ["layer.bias"] if with_bias else []
    for name in names:
        d.leaf(name, (k, n) if name == names[0] else (n,), "plain", view=0)
    y = d.call("linear_layer", [x] + names, input=k, output=n, bias=with_bias, weights=kinds[kind_of_weight])
    d.answer(y, (m, n))


@truth("embedding")
def embedding(at, table):
    look_up = lambda indices: F.embedding(torch.tensor(indices, dtype=torch.long), table)
    return look_up(at["indices"]), look_up(at["second"])


@kind("layers", 0.7)
def layer_embedding(d):
    d.start("layers")
    entries, width = d.sizes(limit=5000)
    d.leaf("layer", (entries, width), view=0)
    draw = lambda: d.data.integers(0, entries, count).tolist()
    count = d.pick([1, 3, 8, 100, 500])
    first, second = draw(), draw()
    d.call("embedding", ["layer"], ["y", "z"], entries=entries, width=width, indices=first, second=second)
    d.answer("y", (count, width))
    d.answer("z", (count, width))


@kind("layers", 0.2)
def layer_dropout(d):
    d.start("layers")
    shape = d.shape()
    x = d.call("dropout", [d.leaf("x", shape, d.pick(ANY))], ["same"], rate=d.uniform(0, 0.9))
    y = d.call("multiply_number", [x], number=2.0)
    d.answer(y, shape, measure="element")


truth("dropout")(lambda at, x: x)

# --- Softmax and losses.

truth("softmax")(lambda at, x: F.softmax(x, -1))
truth("log_softmax")(lambda at, x: F.log_softmax(x, -1))


@truth("bernoulli_cross_entropy")
def bernoulli_cross_entropy(at, x, targets):
    if x.dtype == torch.float32:
        return F.binary_cross_entropy_with_logits(x, targets, reduction="none")
    return x.clamp(min=0) - x * targets + torch.log1p(torch.exp(-x.abs()))  # PyTorch's own loses 1e-18 next to 1


truth("cross_entropy")(lambda at, x: F.cross_entropy(x.reshape(-1, x.shape[-1]), torch.tensor(at["labels"])))

LOGITS = ["plain", "plain", "uniform", "saturated", "constant rows", "zeros", "ties", "tiny", "mean 100",
          "logits 1e4", "mean 1e5", "small", "wide"]


@kind("softmax and losses", 2)
def softmax(d):
    d.start("softmax and losses")
    shape = d.shape()
    x = d.leaf("x", shape, d.pick(LOGITS))
    y = d.call(d.pick(["softmax", "log_softmax"]), [x])
    d.answer(y, shape, measure="row")
    d.measure("row", "d x")


@kind("softmax and losses", 2)
def loss(d):
    d.start("softmax and losses")
    if d.chance(0.4):
        shape = d.shape()
        x = d.leaf("x", shape, d.pick(LOGITS))
        targets = d.data.random(shape) if d.chance(0.5) else d.data.integers(0, 2, shape)
        y = d.call("bernoulli_cross_entropy", [x, d.constant("targets", targets, exact=True)])
        return d.answer(y, shape, measure="row")
    rows, classes = d.sizes()
    if d.chance(0.05):
        rows, classes = d.pick([5000, 30000]), d.pick([2, 10])
    shape = (rows, classes) if rows % 2 or d.chance(0.7) else (rows // 2, 2, classes)
    x = d.leaf("x", shape, d.pick(LOGITS))
    labels = d.data.integers(0, classes, rows).tolist()
    y = d.call("cross_entropy", [x], labels=labels)
    d.answer(y, ())
