"""Recurrent layers: RNN, LSTM and GRU with every normalization, at once, step by step and composed."""
import numpy
import torch
from torch.nn import functional as F

from case import kind, truth
from elementwise import ClipGradient, note_kink
from images import native_batch_norm, statistics
from products import weight_norm

# --- What PyTorch computes: the equations of layers/recurrent/recurrent.h, one step after another.


class Layer:
    """The parameters of one instruction and what its steps share."""

    def __init__(self, at, tensors):
        self.at, self.p = at, {name.removeprefix("layer."): t for name, t in zip(at["in"][5:], tensors)}
        self.hidden = at["hidden"]

    def weight(self, name):
        if name + ".direction" in self.p:
            return weight_norm({}, self.p[name + ".direction"], self.p[name + ".gain"])
        return self.p[name]

    def product(self, a, weight):
        """a weight. Under batch norm row by row, so that equal cases stay equal: what rounding makes of a difference of
        nothing grows 316 times in each step, also in float64, and a matrix product treats its last rows differently."""
        if not any(name.endswith("norm.mean") for name in self.p):
            return a @ weight
        rows = a.reshape(-1, 1, a.shape[-1])
        return torch.bmm(rows, weight.expand(len(rows), *weight.shape)).reshape(*a.shape[:-1], weight.shape[-1])

    def normalize(self, site, a, t, mask, apart=0):
        """N(a) of one step, a [B x width]; the last `apart` units have separate statistics under layer norm."""
        if site + ".gain" not in self.p:
            return a
        gain, bias = self.p[site + ".gain"], self.p.get(site + ".bias")
        if site + ".mean" in self.p:
            return self.batch_norm(site, a, gain, bias, t, mask)
        if apart == 0:
            return F.layer_norm(a, a.shape[-1:], gain, bias, 1e-5)
        first = a.shape[-1] - apart
        return torch.cat([F.layer_norm(a[:, :first], (first,), gain[:first], bias[:first], 1e-5),
                          F.layer_norm(a[:, first:], (apart,), gain[first:], bias[first:], 1e-5)], -1)

    def batch_norm(self, site, a, gain, bias, t, mask):
        mean, variance = self.p[site + ".mean"], self.p[site + ".variance"]
        bias = torch.zeros_like(gain) if bias is None else bias
        if self.at.get("evaluate"):
            known = min(t, len(mean) - 1)
            return (a - mean[known]) / (variance[known] + 1e-5).sqrt() * gain + bias
        valid = mask[:, 0] > 0
        if not valid.any():
            return a * 0
        center, of_batch = statistics(a[valid], False)
        if t < len(mean) and valid.sum() > 1:
            mean[t] += 0.1 * (center - mean[t])
            variance[t] += 0.1 * (of_batch - variance[t])
        n = native_batch_norm(a[valid], gain, bias, 1e-5)
        return torch.zeros_like(a).masked_scatter(valid[:, None].expand_as(a), n) if not valid.all() else n

    def clip(self, a):
        return ClipGradient.apply(a, self.at["clip"]) if self.at.get("clip") else a


def rnn_step(layer, x, h, c, t, mask):
    a = layer.clip(layer.normalize("hidden_norm", layer.product(h, layer.hidden_weight) + x, t, mask))
    if layer.at.get("relu"):
        note_kink(a)
        return torch.relu(a), None
    return torch.tanh(a), None


def lstm_step(layer, x, h, c, t, mask):
    a = layer.clip(layer.normalize("hidden_norm", layer.product(h, layer.hidden_weight), t, mask) + x)
    f, i, o, g = a.chunk(4, -1)
    c = torch.where(mask > 0, torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g), c)
    return torch.sigmoid(o) * torch.tanh(layer.normalize("memory_norm", c, t, mask)), c


def gru_step(layer, x, h, c, t, mask):
    s = layer.normalize("hidden_norm", layer.product(h, layer.hidden_weight), t, mask, layer.hidden)
    (x_z, x_r, x_n), (s_z, s_r, s_n) = x.chunk(3, -1), s.chunk(3, -1)
    z, r = torch.sigmoid(layer.clip(s_z + x_z)), torch.sigmoid(layer.clip(s_r + x_r))
    n = torch.tanh(layer.clip(x_n) + r * layer.clip(s_n))
    return h + z * (n - h), None


STEPS = {"rnn": rnn_step, "lstm": lstm_step, "gru": gru_step}


@truth("rnn", "lstm", "gru")
def sequence(at, x, mask, h, c, condition, *tensors):
    layer = Layer(at, tensors)
    layer.hidden_weight = layer.weight("hidden_weight")
    steps, rows = x.shape[:2]
    apart = layer.hidden if at["op"] == "gru" else 0
    zeros = torch.zeros(rows, layer.hidden, dtype=x.dtype)
    h = zeros + layer.p.get("initial_h", 0) if h is None else h
    c = zeros + layer.p.get("initial_c", 0) if c is None else c
    x_part = layer.product(x, layer.weight("input_weight")) + layer.p.get("bias", 0)
    given = 0 if condition is None else \
        layer.normalize("condition_norm", condition @ layer.p["condition_weight"], 0, None, apart)
    outputs = [None] * steps
    for t in reversed(range(steps)) if at.get("reverse") else range(steps):
        valid = torch.ones(rows, 1, dtype=x.dtype) if mask is None else mask[t][:, None]
        x_t = layer.normalize("input_norm", x_part[t], t, valid, apart) + given
        new_h, new_c = STEPS[at["op"]](layer, x_t, h, c, t, valid)
        h, c = torch.where(valid > 0, new_h, h), new_c
        outputs[t] = h
    return (torch.stack(outputs), c) if at["op"] == "lstm" else torch.stack(outputs)


# --- Cases.

GATES = {"rnn": 1, "lstm": 4, "gru": 3}


def options(d, cell):
    norm = d.pick(["none", "layer", "layer", "batch", "batch", "weight"])
    chosen = {"norm": norm}
    if cell == "rnn" and d.chance(0.2):
        chosen["relu"] = True
    if cell == "lstm" and norm in ("layer", "batch") and d.chance(0.25):
        chosen["only_memory"] = True
    if norm == "batch":
        chosen["max_steps"] = d.between(1, 6)
        chosen["evaluate"] = d.chance(0.2)
    elif d.chance(0.2):
        chosen["checkpoint"] = True
    if cell != "rnn" and norm in ("none", "layer") and "checkpoint" not in chosen and d.chance(0.2):
        chosen["condition"] = d.pick([1, 5, 16])
    if d.chance(0.15):
        chosen["clip"] = d.power(-3, 0)
    if d.chance(0.25):
        chosen["learn_initial"] = True
    chosen["way"] = d.pick(["", "", "", "steps", "composed"])
    if d.chance(0.25) and chosen["way"] != "steps":
        chosen["reverse"] = True
    return chosen


def sizes(d, large):
    """steps, rows, inputs, hidden."""
    if large and d.chance(0.01):
        return 300, d.pick([1, 3]), d.pick([1, 8]), d.pick([3, 16])
    steps = d.pick([1, 2, 3, 4, 5, 8])
    rows, inputs = d.pick([1, 2, 3, 5, 8, 9, 16, 17, 31, 64, 65]), d.pick([1, 3, 8, 15, 16, 17, 33])
    hidden = d.pick([1, 2, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65])
    if large and d.chance(0.03):
        rows, hidden = d.pick([(128, 128), (256, 64), (64, 257), (512, 33)])
    return steps, rows, inputs, hidden


class Fill:
    """Adds a layer's parameters to a case, under the names that the layer gives them."""

    def __init__(self, d, scale):
        self.d, self.scale, self.names = d, scale, []

    def parameter(self, name, shape, style="plain", factor=1.0):
        self.d.leaf("layer." + name, shape, style, view=0)
        self.d.case.tensors["layer." + name] *= self.d.case.tensors["layer." + name].dtype.type(factor)
        self.names.append("layer." + name)

    def weight(self, name, rows, width, normalized):
        factor = self.scale / rows ** 0.5
        if normalized:
            self.parameter(name + ".direction", (rows, width))
            self.parameter(name + ".gain", (width,), "positive", self.scale)
        else:
            self.parameter(name, (rows, width), factor=factor)

    def norm(self, name, norm, width, with_bias, steps):
        if norm not in ("layer", "batch"):
            return
        self.parameter(name + ".gain", (width,), "positive", 0.5 if norm == "batch" else 1)
        if with_bias:
            self.parameter(name + ".bias", (width,), factor=0.5)
        if norm == "batch":
            for state, values in (("mean", self.d.numbers((steps, width))),
                                  ("variance", abs(self.d.numbers((steps, width))) + 0.5)):
                self.names.append(self.d.constant(f"layer.{name}.{state}", values))
            # The number of cases behind the statistics: every step has been reached.
            self.names.append(self.d.constant(f"layer.{name}.cases", numpy.full(steps, 10), exact=True))


def fill_parameters(d, cell, chosen, inputs, hidden):
    fill, width, norm = Fill(d, d.pick([1.0, 1.0, 0.3, 3.0])), GATES[cell] * hidden, chosen["norm"]
    gate_norm = "none" if chosen.get("only_memory") else norm
    steps = chosen.get("max_steps", 1)
    fill.weight("input_weight", inputs, width, norm == "weight")
    fill.weight("hidden_weight", hidden, width, norm == "weight")
    if cell != "rnn":
        fill.norm("input_norm", gate_norm, width, True, steps)
    fill.norm("hidden_norm", gate_norm, width, cell == "rnn" or norm != "batch", steps)
    if chosen.get("condition"):
        fill.parameter("condition_weight", (chosen["condition"], width))
        fill.norm("condition_norm", gate_norm, width, True, steps)
    if cell == "lstm":
        fill.norm("memory_norm", norm, hidden, True, steps)
    if gate_norm not in ("layer", "batch"):
        fill.parameter("bias", (width,), factor=0.5)
    if chosen.get("learn_initial"):
        for name in ["initial_h", "initial_c"][:2 if cell == "lstm" else 1]:
            fill.parameter(name, (hidden,))
    return fill.names


def recurrent(d, cell):
    d.start(cell.upper())
    chosen = options(d, cell)
    steps, rows, inputs, hidden = sizes(d, large="relu" not in chosen)  # many arguments: one is near relu's kink
    style = d.pick(["plain", "plain", "plain", "uniform", "mean 100", "constant rows", "zeros", "sparse", "tiny"])
    x = d.leaf("x", (steps, rows, inputs), style)
    mask, h, c, condition = "", "", "", ""
    if d.chance(0.4):
        values = (d.data.random((steps, rows)) < 0.7).astype("float32")
        values[:, 0] = 1
        mask = d.constant("mask", values, exact=True)
    if d.chance(0.4):
        h = d.leaf("h", (rows, hidden), "uniform", view=0)
        c = d.leaf("c", (rows, hidden), view=0) if cell == "lstm" else ""
        chosen.pop("learn_initial", None)
    if chosen.get("condition"):
        condition = d.leaf("condition", (rows, chosen["condition"]))
    if chosen["way"] == "steps" and chosen.get("condition"):
        chosen["way"] = ""
    if chosen.get("evaluate") and chosen["way"] == "composed":
        chosen["way"] = ""
    names = fill_parameters(d, cell, chosen, inputs, hidden)
    outputs = ["y", "last_c"] if cell == "lstm" else ["y"]
    d.call(cell, [x, mask, h, c, condition] + names, outputs, input=inputs, hidden=hidden, **chosen)
    d.answer("y", (steps, rows, hidden))
    if cell == "lstm":
        d.answer("last_c", (rows, hidden))
    if chosen["way"] != "composed":
        for name in names:
            if name.endswith((".mean", ".variance")):
                d.case.answers.append(name)


for one in GATES:
    kind(one.upper(), 1.2)(lambda d, cell=one: recurrent(d, cell))
