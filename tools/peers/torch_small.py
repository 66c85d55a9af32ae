"""The table of small batches (tools/peers/small_case.h) in PyTorch (CPU, written for 1.13).

What makes it fast here: the fused nn.LSTM and nn.GRU, gradients set to None, Adam over lists of parameters (`foreach`) where they
are small, inference mode; with --jit a traced training step, and inference that is frozen and optimized by torch.jit.

tools/peers/torch_turns.py times it.
"""
import torch
import torch.nn.functional as F
from torch import nn

import torch_transformer
from torch_turns import training_step

LENGTH = 64  # characters of a text


def mlp():
    return nn.Sequential(nn.Linear(784, 1000), nn.ReLU(inplace=True), nn.Linear(1000, 1000), nn.ReLU(inplace=True),
                         nn.Linear(1000, 10))


def convnet():
    return nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(64 * 7 * 7, 512), nn.ReLU(inplace=True), nn.Linear(512, 10))


class Recurrent(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)[0]


class Transformer(torch_transformer.Transformer):
    """The logits of every character; the loss is apart, as in the other models."""

    def forward(self, tokens):
        return self.logits(tokens)


def digits(model, *shape):
    def make(batch):
        return model(), torch.randn(batch, *shape), torch.randint(10, (batch,)), F.cross_entropy
    return make


def recurrent(layer):
    def make(batch):
        return Recurrent(layer()), torch.randn(100, batch, 128), None, lambda states, _: states.square().mean()
    return make


def transformer(batch):
    tokens, targets = (torch.randint(torch_transformer.VOCABULARY, shape)
                       for shape in ((batch, LENGTH), (batch * LENGTH,)))
    return Transformer("ln", 2, 64, 4, LENGTH), tokens, targets, F.cross_entropy


MODELS = {"mlp": digits(mlp, 784), "convnet": digits(convnet, 1, 28, 28),
          "lstm": recurrent(lambda: nn.LSTM(128, 256)), "gru": recurrent(lambda: nn.GRU(128, 256, bias=False)),
          "transformer": transformer}


def training(model, inputs, targets, loss_of, args):
    small = sum(p.numel() for p in model.parameters()) < 1e6  # larger ones are updated faster one by one
    forward = torch.jit.trace(model, inputs) if args.jit else model
    return training_step(model, lambda: loss_of(forward(inputs), targets), args.lr, foreach=small)


def inference(model, inputs, args):
    model.eval()
    forward = torch.jit.optimize_for_inference(torch.jit.trace(model, inputs)) if args.jit else model

    def step():
        with torch.inference_mode():
            forward(inputs)

    return step


def make_step(args):
    """A model and its step, for tools/peers/torch_turns.py, which times it."""
    name, kind = args.case.rsplit("_", 1)
    model, inputs, targets, loss_of = MODELS[name](1 if kind == "one" else int(kind[1:]))
    if kind == "one":
        return model, inference(model, inputs, args)
    return model, training(model, inputs, targets, loss_of, args)
