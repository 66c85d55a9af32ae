"""Layer, RMS and batch norm of rows, and the layers that hold a normalization."""
import pathlib
import re
import sys

import torch
from torch.nn import functional as F

from case import ANY, GENTLE, SHIFTED, kind, truth
from elementwise import note_kink
from images import batch_norm_of, group_norm, image, native_batch_norm, relu_pool, statistics


@truth("layer_norm", "composed_layer_norm")
def layer_norm(at, a, gain, bias):
    return F.layer_norm(a, (a.shape[-1],), gain, bias, at.get("epsilon", 1e-5))


@truth("rms_norm", "composed_rms_norm")
def rms_norm(at, a, gain):
    return a * torch.rsqrt(a.square().mean(-1, keepdim=True) + at.get("epsilon", 1e-5)) * gain


@truth("layer_norm_simple", "composed_layer_norm_simple")
def layer_norm_simple(at, a):
    return layer_norm(at, a, None, None)


@truth("detach_norm", "composed_detach_norm")
def detach_norm(at, a):
    # The truth takes distances from the first unit: far from zero its own rounding would count beside ours in double.
    first = a.detach()[..., :1] if a.dtype == torch.float64 else 0
    x = a.detach() - first
    deviation = (x.var(-1, unbiased=False, keepdim=True) + at.get("epsilon", 1e-5)).sqrt()
    return (a - first - x.mean(-1, keepdim=True)) / deviation


@truth("ada_norm", "composed_ada_norm")
def ada_norm(at, a):
    n = layer_norm_simple(at, a)
    return at.get("scale", 1.0) * (1 - at.get("slope", 0.1) * n).detach() * n


@truth("dyt", "composed_dyt")
def dyt(at, a, alpha, gain, bias):
    return torch.tanh(alpha * a) * gain + bias


@truth("batch_norm", "composed_batch_norm")
def batch_norm(at, a, gain, bias):
    y = batch_norm_of(at, a, gain, bias)
    return y if at["op"].startswith("composed") else (y, *statistics(a, at.get("unbiased")))


@truth("ghost_batch_norm", "composed_ghost_batch_norm")
def ghost_batch_norm(at, a, gain, bias):
    count = max(len(a) // at["part"], 1)
    edges = [len(a) * i // count for i in range(count + 1)]
    parts = [batch_norm_of(at, a[begin:end], gain, bias) for begin, end in zip(edges, edges[1:])]
    return relu_pool({"window": 1} | at, torch.cat(parts))


@truth("batch_renorm", "composed_batch_renorm")
def batch_renorm(at, a, gain, bias, running_mean, running_variance):
    target = (running_variance + at.get("epsilon", 1e-5)).sqrt()
    mean, variance = statistics(a, at.get("unbiased"))
    r = ((variance + at.get("epsilon", 1e-5)).sqrt() / target).clamp(1 / at["r_max"], at["r_max"])
    d = ((mean - running_mean) / target).clamp(-at["d_max"], at["d_max"])
    n = batch_norm_of(at, a, torch.ones_like(gain), torch.zeros_like(bias))
    return relu_pool({"window": 1} | at, (n * r + d) * gain + bias)


@truth("batch_norm_layer")
def batch_norm_layer(at, a, gain, bias, running_mean, running_variance):
    if at.get("evaluate"):
        y = (a - running_mean) / (running_variance + 1e-5).sqrt() * gain + bias
        return y, running_mean, running_variance
    mean, variance = statistics(a, at.get("unbiased"))
    moved = [old + at["momentum"] * (new - old) for old, new in ((running_mean, mean), (running_variance, variance))]
    return batch_norm_of(at, a, gain, bias), *moved


@truth("masked_batch_norm")
def masked_batch_norm(at, a, mask, gain, bias, mean, variance, cases):
    flat = a.reshape(-1, a.shape[-1])
    valid = torch.ones_like(flat[:, :1]) if mask is None else mask.reshape(-1, 1)
    if at.get("evaluate"):
        y = ((flat - mean) / (variance + 1e-5).sqrt() * gain + bias) * valid
        return y.reshape(a.shape), mean[0], variance[0]
    chosen = flat[valid[:, 0] > 0]
    batch_mean, batch_variance = statistics(chosen, False)
    y = torch.zeros_like(flat)
    y[valid[:, 0] > 0] = native_batch_norm(chosen, gain, bias, 1e-5)
    y = y.reshape(a.shape)
    if at.get("composed"):
        return y
    if len(chosen) < 2:
        return y, mean[0], variance[0]
    return y, (mean + 0.1 * (batch_mean - mean))[0], (variance + 0.1 * (batch_variance - variance))[0]


@truth("normalization")
def normalization(at, a, *given):
    norm = at["norm"]
    free = {"layer-simple": layer_norm_simple, "detached": detach_norm, "ada": ada_norm, "dyt": dyt}
    if norm in free:
        return relu_pool({"window": 1} | at, free[norm](at, a, *given))
    gain, bias, running_mean, running_variance = given + (None,) * (4 - len(given))
    if norm in ("none", "weight", "weight-standardized"):
        y = a
    elif norm in ("batch", "ghost-batch", "batch-renorm") and at.get("evaluate"):
        y = (a - running_mean) / (running_variance + 1e-5).sqrt() * gain + bias
    elif norm == "batch":
        y = batch_norm_of(at, a, gain, bias)
    elif norm == "ghost-batch":
        y = ghost_batch_norm({"part": 32}, a, gain, bias)
    elif norm == "batch-renorm":
        y = batch_renorm({"r_max": 3, "d_max": 5}, a, gain, bias, running_mean, running_variance)
    elif norm == "rms":
        y = rms_norm(at, a, gain)
    elif norm == "layer" and a.dim() == 2:
        y = layer_norm(at, a, gain, bias)
    elif norm not in ("layer", "layer-interior", "group", "instance"):
        sys.exit(f"{__file__}: norm_table has '{norm}', normalization() no formula of it")
    else:
        groups = {"group": at["groups"], "instance": a.shape[-1]}.get(norm, 1)
        y = group_norm({"groups": groups, "border": at["border"] if norm == "layer-interior" else 0}, a, gain, bias)
    return relu_pool({"window": 1} | at, y)


@kind("layer norm", 2.5)
def norm_of_rows(d):
    d.start("layer norm")
    shape = d.shape(empty=True)
    a = d.leaf("a", shape, d.pick(ANY))
    gain = d.leaf("gain", (shape[-1],), d.pick(["plain", "positive"]))
    epsilon = d.pick([1e-5, 1e-5, 1e-5, 1e-3])
    if d.chance(0.7):
        op = d.pick(["layer_norm", "layer_norm", "layer_norm", "composed_layer_norm"])
        y = d.call(op, [a, gain, d.leaf("bias", (shape[-1],))], epsilon=epsilon)
    else:
        y = d.call(d.pick(["rms_norm", "rms_norm", "composed_rms_norm"]), [a, gain], epsilon=epsilon)
    d.answer(y, shape, measure="row")
    d.measure("row", "d a")
    if d.chance(0.1):
        d.use_again(a, shape)


@kind("variants of layer norm", 2)
def variant_of_layer_norm(d):
    d.start("variants of layer norm")
    shape = d.shape(empty=True)
    composed = "composed_" * d.chance(0.25)
    op = d.pick(["layer_norm_simple", "detach_norm", "ada_norm", "dyt"])
    a = d.leaf("a", shape, d.pick(ANY if op != "dyt" else ANY + GENTLE))
    if op == "dyt":
        gain = d.leaf("gain", (shape[-1],), d.pick(["plain", "positive"]))
        y = d.call(composed + op, [a, d.leaf("alpha", (1,), "positive"), gain, d.leaf("bias", (shape[-1],))])
    else:
        of_ada = {"scale": d.uniform(0.5, 2), "slope": d.uniform(0.05, 0.3)} if op == "ada_norm" else {}
        y = d.call(composed + op, [a], epsilon=d.pick([1e-5, 1e-5, 1e-5, 1e-3]), **of_ada)
    d.answer(y, shape, measure="row")
    d.measure("row", "d a")
    if d.chance(0.1):
        d.use_again(a, shape)


@kind("batch norm", 2)
def norm_of_columns(d):
    d.start("batch norm")
    shape = d.shape()
    cases = 1
    for size in shape[:-1]:
        cases *= size
    unbiased = d.chance(0.3) and cases > 1
    a = d.leaf("a", shape, d.pick(ANY))
    composed = d.chance(0.2)
    inputs = [a, d.leaf("gain", shape[-1:], d.pick(["plain", "positive"])), d.leaf("bias", shape[-1:])]
    d.call("composed_" * composed + "batch_norm", inputs, ["y"] if composed else ["y", "mean", "variance"],
           unbiased=unbiased)
    d.answer("y", shape)
    if not composed:
        d.answer("mean", shape[-1:], seed=False)
        d.answer("variance", shape[-1:], seed=False)


@kind("variants of batch norm", 2)
def variant_of_batch_norm(d):
    d.start("variants of batch norm")
    maps = d.chance(0.5)
    then = {}
    if maps:
        shape = image(d)
        if d.chance(0.5):
            then = {"relu": d.chance(0.7), "window": d.between(1, min(3, *shape[1:3]))}
    else:
        rows, columns = d.sizes()
        shape = (rows + 1, columns)
    a = d.leaf("a", shape, d.pick(["plain", "uniform", "mean 100"] if then else ANY))
    inputs = [a, d.leaf("gain", shape[-1:], "positive"), d.leaf("bias", shape[-1:])]
    composed = "composed_" * d.chance(0.25)
    if d.chance(0.5):
        d.call(composed + "ghost_batch_norm", inputs, part=d.between(2, 9), **then)
    else:
        inputs.append(d.constant("running_mean", d.numbers(shape[-1:])))
        inputs.append(d.constant("running_variance", abs(d.numbers(shape[-1:])) + 0.1))
        d.call(composed + "batch_renorm", inputs, r_max=d.uniform(1, 4), d_max=d.uniform(0, 5), **then)
    window = then.get("window", 1)
    d.answer("y", (shape[0], shape[1] // window, shape[2] // window, shape[3]) if maps else shape)


def parameters(d, names, shape, **others):
    """Leaves under the names that the layer gives its parameters, and its state."""
    for name in names:
        if name == "cases":
            d.constant("layer.cases", [10], exact=True)
        elif name in ("running_mean", "mean"):
            d.constant("layer." + name, d.numbers(others.get("state", shape)))
        elif name in ("running_variance", "variance"):
            d.constant("layer." + name, abs(d.numbers(others.get("state", shape))) + 0.1)
        else:
            d.leaf("layer." + name, (1,) if name == "alpha" else shape,
                   "positive" if name in ("gain", "alpha") else "plain", view=0)
    return ["layer." + name for name in names]


@kind("batch norm", 1)
def layer_of_batch_norm(d):
    d.start("batch norm")
    masked = d.chance(0.5)
    rows, columns = d.sizes()
    rows += 1
    a = d.leaf("a", (rows, columns), d.pick(ANY))
    evaluate = d.chance(0.3)
    if masked:
        names = parameters(d, ["gain", "bias", "mean", "variance", "cases"], (columns,), state=(1, columns))
        composed = not evaluate and d.chance(0.3)
        mask = ""
        if d.chance(0.7):
            values = (d.data.random(rows) < 0.7).astype("float32")
            values[0] = 1
            mask = d.constant("mask", values, exact=True)
        outputs = ["y"] if composed else ["y", "mean", "variance"]
        d.call("masked_batch_norm", [a, mask] + names, outputs, features=columns, evaluate=evaluate, composed=composed)
    else:
        names = parameters(d, ["gain", "bias", "running_mean", "running_variance"], (columns,))
        outputs = ["y", "mean", "variance"]
        d.call("batch_norm_layer", [a] + names, outputs, features=columns, evaluate=evaluate,
               momentum=d.uniform(0.01, 0.5), unbiased=d.chance(0.3))
    d.answer("y", (rows, columns))
    for name in outputs[1:]:
        d.answer(name, (columns,), seed=False)


def norm_table():
    """{name: (whether it acts on vectors, on maps)} from layers/norms/norm.h, its columns found by the struct's names."""
    text = (pathlib.Path(__file__).resolve().parents[2] / "layers/norms/norm.h").read_text()
    struct = re.search(r"struct NormEntry \{(.*?)\n\};", text, re.S).group(1)
    fields = [name for names in re.findall(r"^  (?:const )?\w+\*? ([\w, ]+);", struct, re.M) for name in names.split(", ")]
    rows = [re.findall(r'"[^"]*"|[\w:]+', row) for row in re.findall(r"^    \{(Norm::.*)\},$", text, re.M)]
    entries = [dict(zip(fields, row, strict=True)) for row in rows]
    return {e["name"].strip('"'): (e["vectors"] == "true", e["maps"] == "true") for e in entries}


SCHEMES = norm_table()
PARAMETERS = {"rms": ["gain"], "dyt": ["alpha", "gain", "bias"],
              **dict.fromkeys(["none", "weight", "weight-standardized", "layer-simple", "detached", "ada"], []),
              **dict.fromkeys(["batch", "ghost-batch", "batch-renorm"], ["gain", "bias", "running_mean", "running_variance"])}


@kind("layers", 1.2)
def layer_of_normalization(d):
    d.start("layers")
    norm = d.pick(list(SCHEMES))
    on_vectors, on_maps = SCHEMES[norm]
    maps = on_maps and (not on_vectors or norm in ("group", "layer-interior") or d.chance(0.4))
    n, h, w, c = image(d)
    border = 0
    if norm == "layer-interior":
        h, w, border = max(h, 5), max(w, 5), d.between(1, 2)
    elif norm == "instance":
        h = max(h, 2)  # a single position is refused
    relu, window = maps and d.chance(0.4), d.between(1, min(2, h, w)) if maps and d.chance(0.4) else 1
    groups = d.pick([g for g in (1, 2, 4, c) if c % g == 0])
    shape = (n, h, w, c) if maps else (max(n * h, 2), c)
    unit = (h, w, c) if maps and h * w > 1 and norm in ("layer", "layer-interior") else (c,)
    x = d.leaf("a", shape, d.pick(["plain", "uniform", "mean 100"]))
    names = parameters(d, PARAMETERS.get(norm, ["gain", "bias"]), unit)
    by_batch = "layer.running_mean" in names
    twice = d.call("multiply_number", [x], ["twice"], number=2.0)
    y = d.call("normalization", [twice] + names, norm=norm, features=c, groups=groups, border=border,
               evaluate=by_batch and d.chance(0.4), **({"height": h, "width": w} if maps else {}),
               **({"relu": relu, "window": window} if maps else {}))
    d.answer(y, (n, h // window, w // window, c) if maps else shape)
