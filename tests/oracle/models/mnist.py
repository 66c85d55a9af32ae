"""Section 6.6: losses and errors of the network on files as MNIST has them, and batch norm's moving averages."""
import struct

import numpy as np

from common import Check, check, linear, normed, score

COMMAND = "mnist"
TRAIN = 7  # all of them are a batch; batch norm divides by N - 1, as it does up to 8
RUNS = [["--norm", "none,layer,batch,weight", "--batch", f"{TRAIN}", "--lr", "0.001", "--epochs", "{}"]]
PERIODS = 2


def write(folder, random):
    for name, count in ("train", TRAIN + 5000), ("t10k", 60):
        labels = random.integers(0, 10, count).astype("u1")
        images = random.integers(0, 60, (count, 28, 28)).astype("u1")
        for image, label in zip(images, labels):
            image[2 * label + 2:2 * label + 6, 3:25] += 120
        (folder / f"{name}-images-idx3-ubyte").write_bytes(struct.pack(">4i", 2051, count, 28, 28) + images.tobytes())
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(struct.pack(">2i", 2049, count) + labels.tobytes())


def read(folder):
    """Pixels in [0, 1] and labels; the last 5000 of the training file are for validation."""
    def split(name):
        return (np.fromfile(folder / f"{name}-images-idx3-ubyte", "u1")[16:].reshape(-1, 784) / 255,
                np.fromfile(folder / f"{name}-labels-idx1-ubyte", "u1")[8:].astype(int))
    images, labels = split("train")
    return {"train": (images[:-5000], labels[:-5000]), "valid": (images[-5000:], labels[-5000:]), "test": split("t10k")}


def logits(w, x, norm=normed):
    for layer in "hidden1", "hidden2":
        x = np.maximum(0, norm(w, layer + ".norm", linear(w, layer, x)))
    return norm(w, "logits.norm", linear(w, "logits", x))


def checks(run):
    sets, w, before, averages = read(run.data), run.weights(), run.weights_before(), {}
    for name in "valid", "test":
        nll, error = score(logits(w, sets[name][0]), sets[name][1])
        yield check(run.last(), **{name + "_nll": nll, name + "_error": error})

    def in_training(weights, name, x):
        if name + ".running_mean" not in weights:
            return normed(weights, name, x)
        mean, variance = x.mean(0), x.var(0, ddof=1)
        for key, value in (".running_mean", mean), (".running_variance", variance):
            averages[name + key] = 0.9 * weights[name + key] + 0.1 * value
        return weights[name + ".gain"] * (x - mean) / np.sqrt(variance + 1e-5) + weights[name + ".bias"]

    yield check(run.last(), train_nll=score(logits(before, sets["train"][0], in_training), sets["train"][1])[0])
    for name, value in averages.items():
        yield Check({name: 0}, [name], [[np.abs(w[name] - value).max()]], [1e-5])
