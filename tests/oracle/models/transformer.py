"""The language model: nats and bits per character of books, for every placement, norm and kind of positions."""
import math

import numpy as np

from common import Check, check, in_bits, linear, log_softmax, normed

COMMAND = "transformer"
HEADS, LENGTH, BATCH = 2, 20, 18
RUNS = [["--width", "16", "--heads", f"{HEADS}", "--layers", "2", "--length", f"{LENGTH}", "--batch", f"{BATCH}",
         "--lr", "0.01", "--warmup", "5", "--decay", "none", "--validate-every", "1", "--sample", "0", *more,
         "--updates", "{}"]
        for more in (["--norm", "layer,rms", "--placement", "post,pre,sandwich,scaled-pre"],
                     ["--norm", "layer,none", "--positions", "learned"], ["--norm", "batch", "--positions", "none"],
                     ["--norm", "weight,dyt", "--positions", "sinusoidal"])]
PERIODS = 8
error_function = np.vectorize(math.erf)


def write(folder, random):
    words = "the cat sat; on a mat, dog ran Home? é".split()
    for name, count in ("one", 60), ("two", 43):
        text = "".join(random.choice(words) + random.choice([" ", " ", "\n"]) for _ in range(count))
        (folder / f"{name}.txt").write_text(text + "Zebra! quiz Ω\n", "utf8")  # what the training part does not have


def read(run):
    alphabet = run.vocabulary()
    train, valid, test = [], [], []
    for file in sorted(run.data.glob("*.txt")):
        text = [alphabet.get(c, 1) for c in file.read_text("utf8")]
        first = len(text) // 10 * 9
        second = first + (len(text) - first) // 2
        train, valid, test = train + text[:first], valid + text[first:second], test + text[second:]
    return np.array(train), np.array(valid), np.array(test)


def norm(w, name, x):
    if name + ".alpha" in w:
        return w[name + ".gain"] * np.tanh(w[name + ".alpha"] * x) + w[name + ".bias"]
    if name + ".gain" in w and name + ".bias" not in w:
        return w[name + ".gain"] * x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)
    return normed(w, name, x)


def angles(steps, width):
    return np.arange(steps)[:, None] / 10000 ** (2 * np.arange(width // 2) / width)


def pairs(even, odd):
    return np.stack([even, odd], -1).reshape(*even.shape[:-1], -1)


def rotated(x):
    turned = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * angles(*x.shape[-2:]))
    return pairs(turned.real, turned.imag)


def attention(w, name, x, rotary):
    texts, steps, width = x.shape
    q, k, v = (part.reshape(texts, steps, HEADS, -1).swapaxes(1, 2)
               for part in np.split(linear(w, name + ".in", x), 3, -1))
    if rotary:
        q, k = rotated(q), rotated(k)
    e = q @ k.swapaxes(2, 3) / math.sqrt(width / HEADS) + np.triu(np.full((steps, steps), -1e30), 1)
    return linear(w, name + ".out", (np.exp(log_softmax(e)) @ v).swapaxes(1, 2).reshape(x.shape))


def feed_forward(w, name, x):
    inner = linear(w, name + ".inner", x)
    return linear(w, name + ".outer", inner * (1 + error_function(inner / math.sqrt(2))) / 2)


def nats(w, settings, tokens, texts):
    """Summed over texts of equal length that lie side by side, and the token after the last one."""
    positions, placement = settings["positions"], settings["placement"]
    before, after = tokens[:-1].reshape(texts, -1), tokens[1:].reshape(texts, -1)
    x = w["words"][before]
    steps, width = x.shape[1:]
    if positions == "learned":
        x = x + w["positions"][:steps]
    if positions == "sinusoidal":
        x = x + pairs(np.sin(angles(steps, width)), np.cos(angles(steps, width)))
    for block in 1, 2:
        for part in "attention", "feed_forward":
            name = f"block{block}.{part}"
            def f(y):
                return attention(w, name, y, positions == "rotary") if part == "attention" \
                    else feed_forward(w, f"block{block}", y)
            if placement == "post":
                x = norm(w, name + "_norm", x + f(x))
            else:
                y = f(norm(w, name + "_norm", x) / (math.sqrt(block) if placement == "scaled-pre" else 1))
                x = x + (norm(w, name + "_result_norm", y) if placement == "sandwich" else y)
    log_p = log_softmax(linear(w, "output", norm(w, "norm", x)))
    return -np.take_along_axis(log_p, after[..., None], -1).sum()


def mean_nats(w, settings, tokens):
    """Of texts side by side and a last one with the rest."""
    whole = (len(tokens) - 1) // LENGTH
    total = nats(w, settings, tokens[:whole * LENGTH + 1], whole) if whole else 0
    rest = tokens[whole * LENGTH:]
    return (total + (nats(w, settings, rest, 1) if len(rest) > 1 else 0)) / (len(tokens) - 1)


def checks(run):
    train, valid, test = read(run)
    value = mean_nats(run.weights(), run.settings, valid)
    yield check(run.last(), valid_nll=value, valid_bits=in_bits(value))
    value = mean_nats(run.weights("best"), run.settings, test)
    yield check(run.test(), test_nll=value, test_bits=in_bits(value))
    yield check(run.last(), learning_rate=0.01)  # after the rise, without decay
    if run.norm != "batch":  # the first text of an epoch begins anywhere
        before, size = run.weights_before(), LENGTH * BATCH
        yield Check(run.last(), ["train_nll"], [[nats(before, run.settings, train[i:i + size + 1], BATCH) / size]
                                                for i in range(len(train) - size)])
