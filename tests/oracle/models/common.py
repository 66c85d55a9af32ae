"""What the experiments share: a run's files, and the paper's formulas in float64."""
import csv
import json
import math
import pathlib
import struct

import numpy as np


def read_tensors(path):
    """A .safetensors file: the length of a JSON header, the header, the numbers."""
    content = pathlib.Path(path).read_bytes()
    end = 8 + struct.unpack("<Q", content[:8])[0]
    tensors = {}
    for name, entry in json.loads(content[8:end]).items():
        if name != "__metadata__":
            first, last = entry["data_offsets"]
            kind = {"F32": "<f4", "F64": "<f8"}[entry["dtype"]]
            tensors[name] = np.frombuffer(content[end + first:end + last], kind).astype(float).reshape(entry["shape"])
    return tensors


class Run:
    """A variant that was trained twice with one seed, once for one evaluation period less."""

    def __init__(self, data, shorter, longer):
        self.data, self.shorter, self.longer = data, shorter, longer
        self.settings = json.loads((longer / "config.json").read_text())["settings"]
        self.norm = self.settings["norm"]

    def weights(self, name="model"):
        return read_tensors(self.longer / f"{name}.safetensors")

    def weights_before(self):
        """Those before the last period, which is one update where its training loss is checked."""
        return read_tensors(self.shorter / "model.safetensors")

    def rows(self, name="metrics"):
        with open(self.longer / f"{name}.csv", encoding="utf8") as file:
            return [{column: float(value) for column, value in row.items()} for row in csv.DictReader(file)]

    def last(self):
        return self.rows()[-1]

    def test(self):
        return self.rows("test")[0]

    def vocabulary(self, special=2):
        lines = (self.longer / "vocabulary.txt").read_text("utf8").split("\n")
        return {"\n" if line == "\\a;" else line: i + special for i, line in enumerate(lines) if line}


class Check:
    """Numbers of a row, and what they may be: a list for each choice that a run may have drawn at random."""

    def __init__(self, row, columns, choices, within=None):
        self.row, self.columns, self.choices, self.within = row, columns, choices, within

    def differences(self):
        """Of the choice that fits best: a number for each column, in units of what is allowed."""
        recorded = [self.row[column] for column in self.columns]
        allowed = self.within or [1e-5 * abs(value) + 1e-9 for value in recorded]
        return min(([abs(a - b) / c for a, b, c in zip(choice, recorded, allowed)] for choice in self.choices), key=max)


def check(row, **values):
    return Check(row, list(values), [list(values.values())])


def sigmoid(x):
    return np.exp(-np.logaddexp(0, -x))


def log_softmax(x):
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def layer_norm(x, gain, bias, axes=-1):
    """Eq. 3: over the units of a case; the variance divided by their number."""
    x = x - x.mean(axes, keepdims=True)
    return gain * x / np.sqrt((x * x).mean(axes, keepdims=True) + 1e-5) + bias


def normed(weights, name, x, axes=-1):
    """Layer norm of that name where there is one, batch norm as in use, else x."""
    if name + ".gain" not in weights:
        return x
    gain, bias = weights[name + ".gain"], weights[name + ".bias"]
    if name + ".running_mean" in weights:
        return gain * (x - weights[name + ".running_mean"]) / np.sqrt(weights[name + ".running_variance"] + 1e-5) + bias
    return layer_norm(x, gain, bias, axes)


def matrix(weights, name, layer=False):
    """A weight, under weight norm g v / norm2(v) of each column."""
    whole = name + ".weight" if layer else name
    if whole in weights:
        return weights[whole]
    direction = weights[name + ".direction"]
    return weights[name + ".gain"] * direction / np.sqrt((direction ** 2).sum(0))


def linear(weights, name, x):
    return x @ matrix(weights, name, layer=True) + weights.get(name + ".bias", 0)


def lstm(weights, name, x, h, c, normalize=normed):
    """Eq. 17 to 22 and 29 to 31, whichever norms there are; gates f, i, o, g."""
    gates = (normalize(weights, name + ".input_norm", x @ matrix(weights, name + ".input_weight"))
             + normalize(weights, name + ".hidden_norm", h @ matrix(weights, name + ".hidden_weight")))
    f, i, o, g = np.split(gates + weights.get(name + ".bias", 0), 4, -1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(normalize(weights, name + ".memory_norm", c)), c


def gru(weights, name, x, h):
    """Eq. 23 to 28; gates z, r, n, of which z and r share statistics."""
    size = h.shape[-1]

    def parts(product, norm):
        if f"{name}.{norm}.gain" not in weights:
            return product[..., :2 * size], product[..., 2 * size:]
        gain, bias = weights[f"{name}.{norm}.gain"], weights[f"{name}.{norm}.bias"]
        return [layer_norm(product[..., part], gain[part], bias[part])
                for part in (slice(2 * size), slice(2 * size, None))]

    gates_x, new_x = parts(x @ weights[name + ".input_weight"] + weights.get(name + ".bias", 0), "input_norm")
    gates_h, new_h = parts(h @ weights[name + ".hidden_weight"], "hidden_norm")
    z, r = np.split(sigmoid(gates_x + gates_h), 2, -1)
    return (1 - z) * h + z * np.tanh(new_x + r * new_h)


def gru_states(weights, name, inputs, h):
    """h_1 to h_T of each sentence, from its word vectors [T x E] and the state before it, a row of h."""
    states, h = [[] for _ in inputs], h.copy()
    for t in range(max(map(len, inputs))):
        on = [i for i, sentence in enumerate(inputs) if t < len(sentence)]
        h[on] = gru(weights, name, np.array([inputs[i][t] for i in on]), h[on])
        for i in on:
            states[i].append(h[i].copy())
    return states


def score(logits, answers):
    """Mean -log p in nats and fraction of wrong answers."""
    log_p = log_softmax(logits)
    return [-log_p[range(len(answers)), answers].mean(), float((log_p.argmax(-1) != answers).mean())]


def in_bits(nats):
    return nats / math.log(2)
