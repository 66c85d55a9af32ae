"""Section 6.5: the likelihood of lines (Graves 2013, Eq. 46 to 51 and 15 to 26), of files as IAM-OnDB has them."""
import re

import numpy as np

from common import check, linear, log_softmax, lstm, sigmoid

COMMAND = "handwriting"
LINES = 18  # for training: all are one batch, so that its loss does not depend on their order
RUNS = [["--norm", "none,layer", "--batch", f"{LINES}", "--lr", "0.01", "--length", length, "--updates", "{}"]
        for length in ("500", "30")]
PERIODS = 4
UNCHECKED = ["running_nll"]  # of several updates; steps.csv has that of one
SYMBOLS = " .,'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"  # 1 to 56; all others are 0


def write(folder, random):
    words = "The quick, brown fox isn't 42 lazy-dogs. Over (there) Jack's Quay".split()
    for form in range(10):
        name = f"a01-{form:03d}"
        strokes, texts = folder / "lineStrokes" / "a01" / name, folder / "ascii" / "a01" / name
        strokes.mkdir(parents=True)
        texts.mkdir(parents=True)
        lines = [" ".join(random.choice(words, 3)) for _ in range(2)]
        (texts / f"{name}u.txt").write_text("OCR:\n\nx\n\nCSR:\n\n" + "\n".join(lines) + "\n")
        for line in range(2):
            points = 500 + random.integers(-20, 40, (random.integers(20, 60), 2)).cumsum(0)
            cuts = np.flatnonzero(random.random(len(points)) < 0.2)
            parts = ["".join(f'<Point x="{x}" y="{y}" time="0"/>' for x, y in part)
                     for part in np.split(points, cuts) if len(part) > 0]
            (strokes / f"{name}u-{line + 1:02d}.xml").write_text(
                "<WhiteboardCaptureSession><StrokeSet><Stroke>" + "</Stroke><Stroke>".join(parts)
                + "</Stroke></StrokeSet></WhiteboardCaptureSession>")


def read(folder):
    """Offsets, ends of strokes and symbols of each line; every tenth form is for testing."""
    train, test = [], []
    for number, file in enumerate(sorted(folder.glob("lineStrokes/a01/*/*.xml"))):
        strokes = [re.findall(r'x="(\d+)" y="(\d+)"', stroke) for stroke in file.read_text().split("</Stroke>")[:-1]]
        at = np.array(sum(strokes, []), float)
        end = np.concatenate([[0] * (len(stroke) - 1) + [1] for stroke in strokes])
        text = (folder / "ascii" / "a01" / file.parent.name / f"{file.parent.name}u.txt").read_text()
        symbols = [SYMBOLS.find(c) + 1 for c in text.split("CSR:\n\n")[1].split("\n")[number % 2]]
        (test if number // 2 % 10 == 9 else train).append((np.diff(at, axis=0, prepend=at[:1]), end, symbols))
    return train, test


def nll(w, lines, length):
    """-log p in nats of each line's points but the first, of which at most `length` count."""
    steps = min(length, max(len(line[1]) for line in lines) - 1)
    x = np.zeros((steps + 1, len(lines), 3))  # after the end of a line zeros, which do not count
    code = np.zeros((len(lines), max(len(line[2]) for line in lines), 57))
    for i, (offsets, end, symbols) in enumerate(lines):
        points = np.column_stack([offsets / w["offset.deviation"], end])[:steps + 1]
        x[:len(points), i] = points
        code[i, range(len(symbols)), symbols] = 1
    states = [(np.zeros((len(lines), len(w["lower.hidden_weight"]))),) * 2 for _ in range(3)]
    window, kappa, total = np.zeros((len(lines), 57)), 0, np.zeros(len(lines))
    for t in range(steps):
        states[0] = lstm(w, "lower", np.hstack([x[t], window]), *states[0])
        alpha, beta, slide = np.exp(np.split(linear(w, "window", states[0][0]), 3, 1))[..., None]
        kappa = kappa + slide
        window = np.einsum("bku,bus->bs", alpha * np.exp(-beta * (kappa - np.arange(code.shape[1])) ** 2), code)
        states[1] = lstm(w, "middle", np.hstack([x[t], states[0][0], window]), *states[1])
        states[2] = lstm(w, "upper", np.hstack([x[t], states[1][0], window]), *states[2])
        output = linear(w, "mixture", np.hstack([h for h, _ in states]))
        weight, mean_x, mean_y, log_x, log_y, r = np.split(output[:, :-1], 6, 1)
        rho, sigma_x, sigma_y = 0.9999 * np.tanh(r), np.exp(log_x), np.exp(log_y)
        a, b = (x[t + 1, :, :1] - mean_x) / sigma_x, (x[t + 1, :, 1:2] - mean_y) / sigma_y
        density = (np.exp(-(a * a + b * b - 2 * rho * a * b) / (2 * (1 - rho ** 2)))
                   / (2 * np.pi * sigma_x * sigma_y * np.sqrt(1 - rho ** 2)))
        p = (np.exp(log_softmax(weight)) * density).sum(1) * sigmoid(np.where(x[t + 1, :, 2], 1, -1) * output[:, -1])
        total -= np.where([t + 1 < len(line[1]) for line in lines], np.log(p), 0)
    return total


def checks(run):
    train, test = read(run.data)
    def mean(w, lines):
        return nll(w, lines, run.settings["length"]).mean()
    # One update a step: the loss of the last one is that of the model before it, summed over the batch.
    yield check(run.rows("steps")[-1], train_loss=LINES * mean(run.weights_before(), train))
    w = run.weights()
    yield check(run.last(), train_nll=mean(w, train), test_nll=mean(w, test))
    deviations = np.concatenate([line[0] for line in train]).std(0)
    yield check(dict(zip("xy", w["offset.deviation"])), x=deviations[0], y=deviations[1])
