"""Section 6.7: loss and error of the small convolutional network on the test images."""
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import mnist
from common import check, linear, normed, score

COMMAND = "convnet"
RUNS = [["--norm", "none,layer,batch", "--batch", f"{mnist.TRAIN}", "--lr", "0.001", "--epochs", "{}"]]
PERIODS, TWICE = 1, False
UNCHECKED = ["train_nll", "valid_nll", "valid_error"]  # mnist has them of the same code, and 5000 images take long here
write = mnist.write


def logits(w, images):
    x = images.reshape(-1, 28, 28, 1)
    for layer in "conv1", "conv2":
        seen = sliding_window_view(np.pad(x, ((0, 0), (2, 2), (2, 2), (0, 0))), (5, 5), (1, 2))
        x = np.einsum("nhwcij,ijco->nhwo", seen, w[layer + ".weight"], optimize=True) + w.get(layer + ".bias", 0)
        x = np.maximum(0, normed(w, layer + ".norm", x, (1, 2, 3)))
        count, height, width, channels = x.shape
        x = x.reshape(count, height // 2, 2, width // 2, 2, channels).max((2, 4))
    x = x.reshape(len(x), -1)
    return linear(w, "logits", np.maximum(0, normed(w, "hidden.norm", linear(w, "hidden", x))))


def checks(run):
    images, labels = mnist.read(run.data)["test"]
    nll, error = score(logits(run.weights(), images), labels)
    yield check(run.last(), test_nll=nll, test_error=error)
