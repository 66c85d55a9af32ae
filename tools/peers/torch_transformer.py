"""The Transformer cases of tools/bench.py in PyTorch (CPU, written for 1.13): a causal language model of characters.

A step is forward, loss, backward, Adam, on random data. A step of a case that ends in _write is one written character:
a forward pass of one token against the cached keys and values of the positions before it.

What makes it fast here: queries, keys and values from one product; scale and mask inside `baddbmm`; softmax in place of the
scores where no gradient needs them; weights in the order in which `addmm` reads them without a copy; no mask or position
made inside a step.

tools/peers/torch_turns.py times it.
"""
from typing import List

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from torch_turns import training_step

VOCABULARY = 80
SIZES = {  # layers, width, heads, T, batch
    "transformer": (6, 256, 8, 256, 16),
    "transformer_small": (2, 64, 4, 64, 4),
}


class Norm(nn.Module):
    def __init__(self, variant: str, width: int):
        super().__init__()
        self.variant = variant
        if variant != "none":
            self.gain = nn.Parameter(torch.ones(width))
        if variant == "ln":
            self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        if self.variant == "ln":
            return F.layer_norm(x, self.gain.shape, self.gain, self.bias)
        if self.variant == "rms":
            return x * torch.rsqrt(torch.mean(x * x, -1, True) + 1e-5) * self.gain
        return x


class Linear(nn.Module):
    """y = x W + b of rows [N x input]."""

    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        return torch.addmm(self.bias, x, self.weight)


class Block(nn.Module):
    """Pre-norm: x + attention(norm(x)), then x + outer(gelu(inner(norm(x)))); x [B T x width]."""

    def __init__(self, variant: str, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.first, self.second = Norm(variant, width), Norm(variant, width)
        self.qkv, self.out = Linear(width, 3 * width), Linear(width, width)
        self.inner, self.outer = Linear(width, 4 * width), Linear(4 * width, width)

    def attend(self, x: Tensor, mask: Tensor) -> Tensor:
        length, width = mask.shape[-1], x.shape[-1]
        batch, d = x.shape[0] // length, width // self.heads
        qkv = self.qkv(x).view(batch, length, 3, self.heads, d).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.reshape(3, batch * self.heads, length, d).unbind(0)
        shares = torch.softmax(torch.baddbmm(mask, q, k.transpose(1, 2), alpha=d ** -0.5), -1)
        mixed = torch.bmm(shares, v).view(batch, self.heads, length, d).transpose(1, 2)
        return self.out(mixed.reshape(batch * length, width))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = x + self.attend(self.first(x), mask)
        return x + self.outer(F.gelu(self.inner(self.second(x))))

    def write(self, x: Tensor, keys: Tensor, values: Tensor, place: int) -> Tensor:
        """One row of one text; keys and values [heads x T x d] are filled up to `place`."""
        width, d = x.shape[-1], x.shape[-1] // self.heads
        q, k, v = self.qkv(self.first(x)).view(3, self.heads, 1, d).unbind(0)
        keys[:, place:place + 1] = k
        values[:, place:place + 1] = v
        scores = torch.bmm(q, keys[:, :place + 1].transpose(1, 2)).mul_(d ** -0.5)
        x = x + self.out(torch.bmm(torch.softmax(scores, -1), values[:, :place + 1]).view(1, width))
        return x + self.outer(F.gelu(self.inner(self.second(x))))


class Transformer(nn.Module):
    def __init__(self, variant: str, layers: int, width: int, heads: int, length: int):
        super().__init__()
        self.tokens = nn.Parameter(0.02 * torch.randn(VOCABULARY, width))
        self.positions = nn.Parameter(0.02 * torch.randn(length, width))
        self.blocks = nn.ModuleList(Block(variant, width, heads) for _ in range(layers))
        self.norm, self.output = Norm(variant, width), Linear(width, VOCABULARY)
        self.register_buffer("mask", torch.full((1, length, length), float("-inf")).triu_(1))

    def logits(self, tokens: Tensor) -> Tensor:
        x = (F.embedding(tokens, self.tokens) + self.positions).view(tokens.numel(), -1)
        for block in self.blocks:
            x = block(x, self.mask)
        return self.output(self.norm(x))

    def forward(self, tokens: Tensor, targets: Tensor) -> Tensor:
        return F.cross_entropy(self.logits(tokens), targets)

    def write(self, token: Tensor, keys: List[Tensor], values: List[Tensor], place: int) -> Tensor:
        """The next token after one at `place`, drawn from what the model says."""
        x = F.embedding(token, self.tokens) + self.positions[place]
        for number, block in enumerate(self.blocks):
            x = block.write(x, keys[number], values[number], place)
        return torch.multinomial(torch.softmax(self.output(self.norm(x)), -1), 1)[0]


def training(args):
    layers, width, heads, length, batch = SIZES[args.case]
    model = Transformer(args.variant, layers, width, heads, length)
    tokens, targets = torch.randint(VOCABULARY, (batch, length)), torch.randint(VOCABULARY, (batch * length,))
    forward = torch.jit.trace(model, (tokens, targets)) if args.jit else model
    return model, training_step(model, lambda: forward(tokens, targets), args.lr)


def writing(args):
    layers, width, heads, length, _ = SIZES[args.case.removesuffix("_write")]
    if args.jit:  # not always: tracing a training step would compile them as well
        torch.jit.export(Block.write)
        torch.jit.export(Transformer.write)
    model = Transformer(args.variant, layers, width, heads, length).eval()
    keys, values = ([torch.zeros(heads, length, width // heads) for _ in range(layers)] for _ in range(2))
    writer = torch.jit.freeze(torch.jit.script(model), ["write"]) if args.jit else model
    state = {"token": torch.zeros(1, dtype=torch.long), "place": 0}

    def step():
        with torch.inference_mode():
            state["token"] = writer.write(state["token"], keys, values, state["place"])
            state["place"] = (state["place"] + 1) % length
            return float(state["token"])

    return model, step


def make_step(args):
    """A model and its step, for tools/peers/torch_turns.py, which times it."""
    writes = args.case.endswith("_write")
    if writes:
        torch.set_num_threads(1)  # one token is too little to share
    return (writing if writes else training)(args)
