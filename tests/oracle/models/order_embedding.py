"""Section 6.1: retrieval of images and captions, and the contrastive loss, of files as Vendrov et al. have them."""
import collections

import numpy as np

from common import check, gru_states

COMMAND = "order-embedding"
IMAGES = {"train": 16, "val": 20, "test": 25}
RUNS = [["--batch", "16", "--lr", "0.01", "--validate-every", "1", "--epochs", "{}"]]
PERIODS = 8


def write(folder, random):
    (folder / "images" / "10crop").mkdir(parents=True)
    for name, count in IMAGES.items():
        features = random.random((count, 24), "f4") ** 3
        features /= np.linalg.norm(features, axis=1, keepdims=True)
        np.save(folder / "images" / "10crop" / f"{name}.npy", features)
        captions = []
        for image in features:
            seen = np.argsort(-image)[:5]
            # In training one caption five times, so that the loss does not depend on which one is drawn.
            each = [" ".join(f"w{word}" for word in random.choice(seen, random.integers(1, 8))) for _ in range(5)]
            captions += each[:1] * 5 if name == "train" else each
        captions[1 if name == "test" else 0] += " strange" if name == "test" else ""
        (folder / f"{name}.txt").write_text("\n".join(captions) + "\n")


def retrieval(scores):
    """Recall and mean rank; of five captions the best counts."""
    owner = np.arange(scores.shape[1]) // 5
    own = scores[owner, np.arange(len(owner))]
    images = (scores >= own).sum(0) - 1
    best = own.reshape(-1, 5).max(1)
    captions = ((scores >= best[:, None]) & (owner != np.arange(len(scores))[:, None])).sum(1)
    found = {}
    for name, ranks in ("caption", captions), ("image", images):
        found |= {f"{name}_r{k}": 100 * np.mean(ranks < k) for k in (1, 5, 10)}
        found[f"{name}_mean_rank"] = ranks.mean() + 1
    return found


def checks(run):
    order = run.settings["score"] == "order"
    counts = collections.Counter(" ".join((run.data / f"{name}.txt").read_text() for name in ("train", "val")).split())
    vocabulary = {word: i + 2 for i, word in enumerate(sorted(counts, key=lambda word: (-counts[word], word)))}

    def point(x):
        x = x / np.linalg.norm(x, axis=-1, keepdims=True)
        return np.abs(x) if order else x

    def captions_of(w, lines):
        sentences = [[vocabulary.get(word, 1) for word in line.split()] + [0] for line in lines]
        h = np.zeros((len(sentences), len(w["gru.hidden_weight"])))
        return point(np.array([h[-1] for h in gru_states(w, "gru", [w["words"][s] for s in sentences], h)]))

    def scores(w, name, step=1):
        features = np.load(run.data / "images" / "10crop" / f"{name}.npy").astype(float)
        images = point(features @ w["image.weight"] + w["image.bias"])
        captions = captions_of(w, (run.data / f"{name}.txt").read_text().splitlines()[::step])
        if not order:
            return images @ captions.T
        return -(np.maximum(0, captions - images[:, None]) ** 2).sum(-1)

    def searched(name, prefix, w):
        found = retrieval(scores(w, name))
        total = sum(value for key, value in found.items() if "mean" not in key)
        named = {prefix + key: value for key, value in found.items()}
        return named | {"valid_sum": total} if prefix == "valid_" else named

    yield check(run.last(), **searched("val", "valid_", run.weights()))
    best = max(run.rows(), key=lambda row: row["valid_sum"])  # the first of equally good ones
    yield check(best, **searched("val", "valid_", run.weights("best")))
    yield check(run.test(), **searched("test", "test_", run.weights("best")))
    s, margin = scores(run.weights_before(), "train", 5), 0.05 if order else 0.2
    right = np.diag(s)
    wrong = np.maximum(0, margin - right[:, None] + s) + np.maximum(0, margin - right + s)
    yield check(run.last(), train_loss=wrong.sum() - np.trace(wrong))
