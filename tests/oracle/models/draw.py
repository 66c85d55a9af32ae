"""Section 6.4: the bound of DRAW (Gregor et al. 2015), whose noise is drawn at random: means are compared within their
standard errors."""
import numpy as np

from common import Check, linear, log_softmax, lstm, sigmoid

COMMAND = "draw"
RUNS = [["--norm", "none,weight,layer", "--batch", "16", "--lr", "0.01", "--epochs", "{}"]]
PERIODS, TWICE = 3, False
UNCHECKED = ["epoch_bound"]  # of several updates
SIDE, GLIMPSES, READ, WRITE, SAMPLES = 28, 16, 2, 5, 3  # the small preset's


def write(folder, random):
    y, x = np.mgrid[:SIDE, :SIDE]
    for name, count in ("train", 60), ("valid", 30), ("test", 40):
        rings = [np.abs(np.hypot(x - a, y - b) - r / 3) < 1.5 for a, b, r in random.uniform(8, 20, (count, 3))]
        np.savetxt(folder / f"binarized_mnist_{name}.amat", np.reshape(rings, (count, -1)), "%d")


def filters(focus, points):
    """F_X, F_Y [B x N x A] and gamma [B x 1 x 1] from the five numbers of the focus."""
    def along(shift):
        centre = (SIDE + 1) / 2 * (shift + 1)
        mean = centre[:, None] + (np.arange(1, points + 1) - points / 2 - 0.5) * stride[:, None]
        distance = np.arange(1, SIDE + 1) - mean[..., None]
        return np.exp(log_softmax(-distance ** 2 / (2 * np.exp(focus[:, 2])[:, None, None])))
    stride = (SIDE - 1) / (points - 1) * np.exp(focus[:, 3])
    return along(focus[:, 0]), along(focus[:, 1]), np.exp(focus[:, 4])[:, None, None]


def bound(w, images, random):
    """Reconstruction and KL of each image [2 x B], in nats, with one z."""
    count, hidden = len(images), len(w["encoder.bias"]) // 4
    image = images.reshape(count, SIDE, SIDE)
    encoder = decoder = (np.zeros((count, hidden)),) * 2
    canvas, kl = np.zeros_like(image), 0
    for _ in range(GLIMPSES):
        f_x, f_y, gamma = filters(linear(w, "read", decoder[0]), READ)
        patches = [(gamma * (f_y @ seen @ f_x.swapaxes(1, 2))).reshape(count, -1)
                   for seen in (image, image - sigmoid(canvas))]
        encoder = lstm(w, "encoder", np.concatenate([decoder[0], *patches], 1), *encoder)
        mean, log_sigma = np.split(linear(w, "latent", encoder[0]), 2, 1)
        kl = kl + (mean ** 2 + np.exp(2 * log_sigma) - 2 * log_sigma - 1).sum(1) / 2
        decoder = lstm(w, "decoder", mean + np.exp(log_sigma) * random.standard_normal(mean.shape), *decoder)
        output = linear(w, "write", decoder[0])
        f_x, f_y, gamma = filters(output[:, :5], WRITE)
        canvas = canvas + f_y.swapaxes(1, 2) @ output[:, 5:].reshape(count, WRITE, WRITE) @ f_x / gamma
    return np.array([(np.logaddexp(0, canvas) - image * canvas).sum((1, 2)), kl])


def checks(run):
    w, random = run.weights(), np.random.default_rng(1)
    sets = {name: np.loadtxt(run.data / f"binarized_mnist_{name}.amat") for name in ("train", "valid", "test")}
    sets["train"] = sets["train"][:len(sets["test"])]
    for name, images in sets.items():
        samples = np.array([bound(w, images, random) for _ in range(SAMPLES)])  # [samples x 2 x B]
        parts = {"bound": samples.sum(1), "reconstruction": samples[:, 0], "kl": samples[:, 1]}
        columns = [part for part in parts if f"{name}_{part}" in run.last()]
        # What one sample of each image deviates from the mean of ours, five times.
        within = [5 * np.sqrt(parts[part].var(0, ddof=1).sum() * (1 + 1 / SAMPLES)) / len(images) for part in columns]
        means = [parts[part].mean() for part in columns]
        yield Check(run.last(), [f"{name}_{part}" for part in columns], [means], within)
