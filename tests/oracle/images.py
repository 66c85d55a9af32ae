"""Convolution, pooling and the normalizations of feature maps [N x H x W x C]."""
import torch
from torch.nn import functional as F

from case import ANY, GENTLE, SHIFTED, kind, truth
from elementwise import note_kink


def first(x):
    return x.permute(0, 3, 1, 2)


def last(x):
    return x.permute(0, 2, 3, 1)


@truth("conv2d", "composed_conv2d", "conv2d_layer")
def conv2d(at, x, weight, bias=None):
    return last(F.conv2d(first(x), weight.permute(3, 2, 0, 1).contiguous(), bias, stride=at.get("stride", 1),
                         padding=at.get("padding", 0)))


@truth("max_pool2d", "composed_max_pool2d")
def max_pool2d(at, x):
    note_ties(x, at["window"], at.get("stride") or at["window"])
    return last(F.max_pool2d(first(x), at["window"], at.get("stride") or at["window"]))


@truth("average_pool2d", "composed_average_pool2d")
def average_pool2d(at, x):
    return last(F.avg_pool2d(first(x), at["window"], at.get("stride") or at["window"]))


@truth("relu_pool", "composed_relu_pool")
def relu_pool(at, x):
    if at.get("relu"):
        note_kink(x)
    if at.get("window", 1) > 1:
        note_ties(x, at["window"], at["window"])
    x = torch.relu(x) if at.get("relu") else x
    return last(F.max_pool2d(first(x), at["window"])) if at.get("window", 1) > 1 else x


def note_ties(x, window, stride):
    """Where the two largest numbers of a window are computed and close, rounding decides which gets the gradient."""
    if x.requires_grad and not x.is_leaf and x.numel():
        with torch.no_grad():
            windows = first(x).unfold(2, window, stride).unfold(3, window, stride)
            two = windows.reshape(*windows.shape[:4], -1).topk(2).values if window > 1 else None
        if two is not None:
            note_kink((x.sum() * 0 + (two[..., 0] - two[..., 1]) / x.square().mean().sqrt()))


def image(d, *, largest=8000):
    n, c = d.pick([1, 1, 2, 3, 5]), d.pick([1, 2, 3, 5, 8, 12, 16, 17, 31, 32, 33])
    h, w = d.pick([1, 2, 3, 5, 7, 8, 9, 12, 16, 17]), d.pick([1, 2, 3, 5, 7, 8, 9, 12, 16, 17])
    while n * h * w * c > largest:
        n, c = max(1, n // 2), max(1, c // 2)
        h = max(3, h // 2) if n == 1 and c <= 3 else h
    return n, h, w, c


@kind("convolution", 2)
def convolution(d):
    d.start("convolution")
    n, h, w, c = image(d, largest=6000)
    stride, padding = d.pick([1, 1, 1, 2, 3]), d.pick([0, 0, 1, 2])
    k = d.between(1, min(5, h + 2 * padding))
    l = d.between(1, min(5, w + 2 * padding))
    o = d.pick([1, 2, 3, 7, 8, 9, 16, 17, 32])
    layer = k == l and d.chance(0.3)
    x = d.leaf("x", (n, h, w, c), d.pick(ANY))
    name = "layer." if layer else ""
    inputs = [x, d.leaf(name + "weight", (k, l, c, o), d.pick(["plain", "small"]), view=0)]
    with_bias = d.chance(0.7)
    if with_bias:
        inputs.append(d.leaf(name + "bias", (o,), view=0))
    attributes = {"input": c, "output": o, "kernel": k, "bias": with_bias} if layer else {}
    op = "conv2d_layer" if layer else d.pick(["conv2d", "conv2d", "conv2d", "composed_conv2d"])
    y = d.call(op, inputs, stride=stride, padding=padding, **attributes)
    out = ((h + 2 * padding - k) // stride + 1, (w + 2 * padding - l) // stride + 1)
    d.answer(y, (n, *out, o))


@kind("pooling", 1.5)
def pooling(d):
    d.start("pooling")
    n, h, w, c = image(d)
    op = d.pick(["max_pool2d", "average_pool2d", "relu_pool"])
    window = d.between(1, min(4, h, w))
    stride = window if op == "relu_pool" else d.pick([0, window, 1, 2, 3])
    # Where a window's largest are equal, the composed pool may choose another than the first.
    composed = d.chance(0.3)
    x = d.leaf("x", (n, h, w, c), d.pick(GENTLE[:4] + SHIFTED) if composed else d.pick(ANY + ["ties"] * 3), view=0)
    attributes = {"window": window} | ({"relu": window == 1 or d.chance(0.7)} if op == "relu_pool" else {"stride": stride})
    y = d.call("composed_" * composed + op, [x], **attributes)
    stride = stride or window
    shape = (n, (h - window) // stride + 1, (w - window) // stride + 1, c)
    d.answer(y, shape, measure="row")
    if d.chance(0.15):
        d.use_again(x, (n, h, w, c))


# --- Normalizations of maps.


@truth("batch_norm_maps", "composed_batch_norm_maps")
def batch_norm_maps(at, a, gain, bias):
    y = relu_pool({"window": 1} | at, batch_norm_of(at, a, gain, bias))
    return y if at["op"].startswith("composed") else (y, *statistics(a, at.get("unbiased")))


def statistics(a, unbiased):
    """Mean and variance of every column."""
    flat = a.detach().reshape(-1, a.shape[-1])
    if flat.dtype == torch.float32:
        return torch.var_mean(flat, 0, unbiased=bool(unbiased))[::-1]
    mean = flat.mean(0)  # var_mean in float64 loses more digits far from zero than double allows
    rest = flat - mean
    spread = rest.square().sum(0) - rest.sum(0).square() / len(flat)
    return mean, spread / (len(flat) - bool(unbiased))


def native_batch_norm(a, gain, bias, epsilon):
    """F.batch_norm without its check that there is more than one case."""
    return torch.batch_norm(a, gain, bias, None, None, True, 0.1, epsilon, False)


def batch_norm_of(at, a, gain, bias):
    """PyTorch's own normalizes with the biased variance; the unbiased one is composed."""
    epsilon = at.get("epsilon", 1e-5)
    flat = a.reshape(-1, a.shape[-1])
    if at.get("unbiased"):
        variance, mean = torch.var_mean(flat, 0, unbiased=True)
        return (a - mean) / (variance + epsilon).sqrt() * gain + bias
    if a.dim() == 4:
        return last(native_batch_norm(first(a), gain, bias, epsilon))
    return native_batch_norm(flat, gain, bias, epsilon).reshape(a.shape)


@truth("group_norm", "composed_group_norm")
def group_norm(at, a, gain, bias):
    maps = a if a.dim() == 4 else a[:, None, None, :]
    y = relu_pool({"window": 1} | at, normalized_maps(at, maps, gain, bias))
    return y if a.dim() == 4 else y[:, 0, 0, :]


def normalized_maps(at, maps, gain, bias):
    epsilon, groups, border = at.get("epsilon", 1e-5), at["groups"], at.get("border", 0)
    if border == 0 and groups == 1 and gain.dim() == 3:
        return F.layer_norm(maps, tuple(maps.shape[1:]), gain, bias, epsilon)
    # PyTorch's own adds mean / deviation back as a bias: for a single number of 1e10 in a group the error is 1e-4 even
    # in float64, where the true value is the bias. So it is used in float only.
    if border == 0 and gain.dim() == 1 and maps.dtype == torch.float32:
        return last(torch.group_norm(first(maps), groups, gain, bias, epsilon))
    n, h, w, c = maps.shape
    grouped = maps.reshape(n, h, w, groups, c // groups)
    inside = grouped[:, border:h - border, border:w - border]
    variance, mean = torch.var_mean(inside, (1, 2, 4), unbiased=False, keepdim=True)
    return ((grouped - mean) / (variance + epsilon).sqrt()).reshape(maps.shape) * gain + bias


def followed(d, n, h, w, c):
    """What follows a normalization: (attributes, shape of the result)."""
    if d.chance(0.5):
        return {}, (n, h, w, c)
    window = d.between(1, min(3, h, w))
    return {"relu": d.chance(0.7), "window": window}, (n, h // window, w // window, c)


@kind("batch norm of maps", 1.5)
def norm_of_batch(d):
    d.start("batch norm of maps")
    n, h, w, c = image(d)
    unbiased = d.chance(0.3) and n * h * w > 1
    then, shape = followed(d, n, h, w, c)
    style = d.pick(["plain", "uniform", "mean 100"] if then else ANY)
    inputs = [d.leaf("a", (n, h, w, c), style), d.leaf("gain", (c,), "positive"), d.leaf("bias", (c,))]
    composed = d.chance(0.2)
    names = ["y"] if composed else ["y", "mean", "variance"]
    d.call("composed_" * composed + "batch_norm_maps", inputs, names, unbiased=unbiased, **then)
    d.answer("y", shape)
    if not composed:
        d.answer("mean", (c,), seed=False)
        d.answer("variance", (c,), seed=False)


@kind("group norm", 2)
def norm_of_groups(d):
    d.start("group norm")
    n, h, w, c = image(d)
    groups = d.pick([g for g in (1, 1, 2, 3, 4, 8, c) if c % g == 0])
    flat = d.chance(0.1)
    if flat:
        h, w = 1, 1
    border = d.between(1, 2) if min(h, w) > 4 and d.chance(0.3) else 0
    then, shape = ({}, (n, h, w, c)) if flat else followed(d, n, h, w, c)
    style = d.pick(["plain", "uniform", "mean 100"] if then else ANY)
    parameters = (h, w, c) if not flat and d.chance(0.3) else (c,)
    inputs = [d.leaf("a", (n, c) if flat else (n, h, w, c), style), d.leaf("gain", parameters, "positive", view=0),
              d.leaf("bias", parameters, view=0)]
    y = d.call(d.pick(["group_norm", "group_norm", "group_norm", "composed_group_norm"]), inputs, groups=groups,
               border=border, **then)
    d.answer(y, (n, c) if flat else shape)
