"""Attention of several heads: softmax(scale Q K^T + mask) V."""
import math

import numpy
import torch

from case import kind, truth

LENGTHS = [1, 2, 3, 5, 8, 16, 17, 31, 32, 33, 64, 65, 100, 128, 129, 160]
HEADS = [1, 2, 3]
HEAD_WIDTHS = [1, 2, 3, 4, 8, 16, 17, 32, 33, 64]


def shares(at, scores, mask):
    """softmax over the keys, of which some are hidden; zeros where all are."""
    cases, _, queries, keys = scores.shape
    if mask is not None:
        scores = scores + (mask[:, None] if mask.dim() == 3 else mask)
    key = torch.arange(keys)
    hidden = torch.zeros(cases, 1, queries, keys, dtype=torch.bool)
    if at.get("causal"):
        hidden |= key > torch.arange(queries)[:, None] + keys - queries
    if "lengths" in at:
        hidden |= key >= torch.tensor(at["lengths"]).reshape(cases, 1, 1, 1)
    scores = scores.masked_fill(hidden, -math.inf)
    nothing = (scores == -math.inf).all(-1, keepdim=True)
    return torch.softmax(scores.masked_fill(nothing, 0), -1).masked_fill(nothing, 0)


@truth("attention", "composed_attention")
def attention(at, q, k, v, mask=None):
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    scores = q @ k.transpose(-1, -2) * (at.get("scale") or 1 / math.sqrt(q.shape[-1]))
    return (shares(at, scores, mask) @ v).transpose(1, 2)


@truth("self_attention")
def self_attention(at, qkv, mask=None):
    parts = qkv.reshape(*qkv.shape[:2], 3, at["heads"], -1).unbind(2)
    return attention(at, *parts, mask).flatten(2)


def hidden(d, cases, heads, queries, keys, given):
    """Attributes that hide keys; appends a mask to the inputs."""
    at = {"causal": d.chance(0.5)}
    if d.chance(0.4):
        at["lengths"] = [d.between(0, keys) for _ in range(cases)]
    if d.chance(0.4):
        shape = d.pick([(queries, keys), (cases, queries, keys), (cases, heads, queries, keys)])
        values = d.numbers(shape)
        values[d.data.random(shape) < d.pick([0, 0.3, 0.9])] = -numpy.inf
        given.append(d.constant("mask", values, exact=True))
    if d.chance(0.3):
        at["scale"] = d.uniform(0.1, 1)
    return at


def sizes_of(d):
    cases, heads, width = d.pick([1, 2, 3]), d.pick(HEADS), d.pick(HEAD_WIDTHS)
    queries = d.pick(LENGTHS)
    keys = queries if d.chance(0.3) else d.pick(LENGTHS)
    while cases * heads * queries * keys * width > 1_000_000:
        queries, keys = queries // 2 + 1, keys // 2 + 1
    return cases, queries, keys, heads, width


STYLES_OF_QUERIES = ["plain", "plain", "plain", "uniform", "small", "zeros", "ties", "sparse", "saturated"]


@kind("attention", 2)
def of_three(d):
    d.start("attention")
    cases, queries, keys, heads, width = sizes_of(d)
    of_q, of_k = (cases, queries, heads, width), (cases, keys, heads, width)
    given = [d.leaf("q", of_q, d.pick(STYLES_OF_QUERIES)), d.leaf("k", of_k), d.leaf("v", of_k)]
    at = hidden(d, cases, heads, queries, keys, given)
    y = d.call(d.pick(["attention", "attention", "attention", "composed_attention"]), given, **at)
    d.answer(y, of_q)


@kind("attention", 1)
def of_one(d):
    d.start("attention")
    cases, steps, _, heads, width = sizes_of(d)
    given = [d.leaf("qkv", (cases, steps, 3 * heads * width), d.pick(STYLES_OF_QUERIES[:-1]))]
    at = hidden(d, cases, heads, steps, steps, given)
    d.answer(d.call("self_attention", given, heads=heads, **at), (cases, steps, heads * width))
