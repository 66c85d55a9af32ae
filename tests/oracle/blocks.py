"""The layers of attention: self and cross attention, and Transformer blocks."""
import math

import torch
from torch.nn import functional as F

from case import GENTLE, TRUTH, kind, truth
from elementwise import relu
from norms import layer_norm, rms_norm

PLACEMENTS = ["post", "pre", "sandwich", "scaled-pre"]


def turned(x):
    """Rotary positions of x [B x T x heads x d]: pairs of features as complex numbers, times e^(i t a)."""
    length, d = x.shape[1], x.shape[3]
    rates = 10000.0 ** (-2 * torch.arange(d // 2, dtype=torch.float64) / d)
    angles = torch.outer(torch.arange(length, dtype=torch.float64), rates)[:, None, :]
    cosine, sine = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cosine - odd * sine, even * sine + odd * cosine], -1).flatten(-2)


def heads_of(x, heads):
    return x.reshape(*x.shape[:2], heads, -1)


def answers(at, q, k, v):
    """softmax(Q K^T / sqrt(d)) V of heads [B x T x heads x d], side by side."""
    q, k, v = (part.transpose(1, 2) for part in (q, k, v))
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    hidden = torch.zeros(scores.shape[0], 1, *scores.shape[2:], dtype=torch.bool)
    if at.get("causal"):
        hidden |= torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    if at["lengths"]:
        hidden |= torch.arange(k.shape[2]) >= torch.tensor(at["lengths"])[:, None, None, None]
    return (scores.masked_fill(hidden, -math.inf).softmax(-1) @ v).transpose(1, 2).flatten(-2)


@truth("self_attention_layer")
def self_attention(at, x, weight, bias, out_weight, out_bias):
    q, k, v = (heads_of(part, at["heads"]) for part in F.linear(x, weight.t(), bias).chunk(3, -1))
    if at.get("rotary"):
        q, k = turned(q), turned(k)
    return F.linear(answers(at, q, k, v), out_weight.t(), out_bias)


@truth("cross_attention_layer")
def cross_attention(at, x, memory, weight, bias, memory_weight, memory_bias, out_weight, out_bias):
    q = heads_of(F.linear(x, weight.t(), bias), at["heads"])
    k, v = (heads_of(part, at["heads"]) for part in F.linear(memory, memory_weight.t(), memory_bias).chunk(2, -1))
    return F.linear(answers(at, q, k, v), out_weight.t(), out_bias)


@truth("transformer_block")
def transformer_block(at, x, *parameters):
    attention, feed_forward, norms = parameters[:4], parameters[4:8], list(parameters[8:])

    def norm(z):  # in the order in which a block has them
        return layer_norm(at, z, norms.pop(0), norms.pop(0)) if at["norm"] == "layer" else rms_norm(at, z, norms.pop(0))

    def inner(z):
        hidden = F.linear(z, feed_forward[0].t(), feed_forward[1])
        return F.linear(relu(at, hidden) if at.get("relu") else TRUTH["gelu"](at, hidden), feed_forward[2].t(), feed_forward[3])

    for part in (lambda z: self_attention(at, z, *attention), inner):
        if at["placement"] == "post":
            x = norm(x + part(x))
        elif at["placement"] == "sandwich":
            x = x + norm(part(norm(x)))
        else:
            scale = 1 / math.sqrt(at["number"]) if at["placement"] == "scaled-pre" else 1
            x = x + part(norm(x) * scale)
    return x


def sizes(d):
    """Cases, length, heads, width. Few rows or features leave the errors of so many ops to chance."""
    heads = d.pick([1, 2, 3, 4, 8])
    head = d.pick([4, 6, 8, 10, 16, 32])
    return d.pick([2, 3, 5]), d.pick([1, 2, 3, 7, 8, 16, 17, 33]), heads, heads * head


def lengths(d, cases, keys):
    return d.data.integers(1, keys + 1, cases).tolist() if d.chance(0.3) else []


def linear_leaves(d, name, inputs, outputs):
    weight = d.leaf(f"{name}.weight", (inputs, outputs), "plain", view=0)
    d.case.tensors[weight] /= math.sqrt(inputs)
    return [weight, d.leaf(f"{name}.bias", (outputs,), "small", view=0)]


@kind("attention layers", 1)
def attention_layer(d):
    d.start("attention layers")
    cases, length, heads, width = sizes(d)
    x = d.leaf("x", (cases, length, width), d.pick(GENTLE))
    if d.chance(0.5):
        inputs = [x] + linear_leaves(d, "layer.in", width, 3 * width) + linear_leaves(d, "layer.out", width, width)
        y = d.call("self_attention_layer", inputs, width=width, heads=heads, causal=d.chance(0.5),
                   rotary=d.chance(0.5), lengths=lengths(d, cases, length))
    else:
        keys, memory_width = d.pick([1, 2, 5, 16, 31]), d.pick([1, 8, 13, width])
        memory = d.leaf("memory", (cases, keys, memory_width), d.pick(GENTLE))
        inputs = [x, memory] + linear_leaves(d, "layer.query", width, width)
        inputs += linear_leaves(d, "layer.memory", memory_width, 2 * width) + linear_leaves(d, "layer.out", width, width)
        y = d.call("cross_attention_layer", inputs, width=width, heads=heads, memory_width=memory_width,
                   lengths=lengths(d, cases, keys))
    d.answer(y, (cases, length, width))


@kind("attention layers", 1)
def block(d):
    d.start("attention layers")
    cases, length, heads, width = sizes(d)
    inner = d.pick([7, 8, 16, 33, 128])
    placement, norm = d.pick(PLACEMENTS), d.pick(["layer", "layer", "rms"])
    inputs = [d.leaf("x", (cases, length, width), d.pick(["plain", "uniform"]))]
    inputs += linear_leaves(d, "layer.attention.in", width, 3 * width)
    inputs += linear_leaves(d, "layer.attention.out", width, width)
    inputs += linear_leaves(d, "layer.inner", width, inner) + linear_leaves(d, "layer.outer", inner, width)
    for part in ("attention", "feed_forward"):
        for which in ("norm", "result_norm") if placement == "sandwich" else ("norm",):
            inputs.append(d.leaf(f"layer.{part}_{which}.gain", (width,), "positive", view=0))
            if norm == "layer":
                inputs.append(d.leaf(f"layer.{part}_{which}.bias", (width,), "plain", view=0))
    y = d.call("transformer_block", inputs, width=width, heads=heads, inner=inner, placement=placement, norm=norm,
               number=d.between(1, 12), causal=d.chance(0.5), rotary=d.chance(0.3), relu=d.chance(0.4),
               lengths=lengths(d, cases, length))
    d.answer(y, (cases, length, width))
