"""Section 6.2: loss and error of the reader, of `.question` files; under batch norm in all three ways.

Three entities, so that their permutation in a batch, which is drawn at random, is one of six."""
import collections
import itertools

import numpy as np

from common import Check, check, linear, log_softmax, lstm, normed

COMMAND = "attentive-reader"
COUNTS = {"training": 24, "validation": 14, "test": 11}  # all of a set are one batch
RUNS = [["--norm", "none,layer,batch,batch-everywhere", "--gain", "1", "--units", "10", "--batch", "24", "--lr", "0.05",
         "--dropout", "0", "--validate-every", "1", *more, "--updates", "{}"]
        for more in (["--sentences", "0"], ["--sentences", "2", "--padding", "cyclic", "--answers", "vocabulary"])]
PERIODS = 12
UNCHECKED = ["population_loss", "population_error"]  # by statistics that no file keeps; the test's are kept
ENTITIES = 3


def write(folder, random):
    words = "the man went with river stone paper letter house garden gave took".split()
    entity = lambda: f"@entity{random.integers(0, ENTITIES)}"
    for name, count in COUNTS.items():
        (folder / name).mkdir()
        for number in range(count):
            passage = []
            for _ in range(random.integers(2, 7)):
                sentence = [*random.choice(words + ["strange"] * (name == "test"), random.integers(2, 7)), entity()]
                passage += [*random.permutation(sentence), "."]
            query = random.permutation([*random.choice(words, random.integers(1, 6)), "@placeholder", entity()])
            answer = next(word for word in passage if word[0] == "@")
            parts = ["http://x", " ".join(passage), " ".join(query), answer, "@entity0:A\n@entity1:B\n@entity2:C\n"]
            (folder / name / f"{number:03}.question").write_text("\n\n".join(parts))


def relevant(passage, query, count):
    """The sentences that share most words with the question: an entity counts twice, a short word not at all."""
    ends = [i + 1 for i, word in enumerate(passage) if word == "."]
    sentences = [passage[a:b] for a, b in zip([0] + ends, ends)]
    def shared(i):
        return sum(2 if word[0] == "@" else len(word) > 3 for word in set(sentences[i]) & set(query))
    best = sorted(range(len(sentences)), key=lambda i: (-shared(i), i))[:count or None]
    return sum((sentences[i] for i in sorted(best)), [])


def read(folder, sentences):
    parts = [file.read_text().split("\n\n") for file in sorted(folder.glob("*.question"))]
    return [(relevant(p[1].split(), p[2].split(), sentences), p[2].split(), p[3]) for p in parts]


class Reader:
    """The model for a batch of questions, with statistics of the batch or those that are kept."""

    def __init__(self, w, cyclic, kept):
        self.w, self.cyclic, self.kept, self.step, self.counted = w, cyclic, kept, 0, None

    def norm(self, w, name, x):
        if name + ".mean" not in w:
            return normed(w, name, x)
        if self.kept:  # steps beyond the last one that was reached have its statistics
            step = min(self.step, np.flatnonzero(w[name + ".cases"])[-1])
            mean, variance = w[name + ".mean"][step], w[name + ".variance"][step]
        else:
            mean, variance = x[self.counted].mean(0), x[self.counted].var(0)
        return w[name + ".gain"] * (x - mean) / np.sqrt(variance + 1e-5) + w.get(name + ".bias", 0)

    def part(self, name, x):
        self.step, self.counted = 0, np.ones(len(x), bool)
        return self.norm(self.w, name + ".norm", linear(self.w, name, x))

    def states(self, name, sentences):
        """[T x B x H] and where words are; at a padded step h and c stay."""
        steps = max(map(len, sentences))
        padded = np.array([(s + ([0] + s) * steps)[:steps] if self.cyclic else s + [0] * (steps - len(s))
                           for s in sentences]).T
        mask = np.arange(steps)[:, None] < [len(s) for s in sentences]
        h = np.tile(self.w[name + ".initial_h"], (len(sentences), 1))
        c, all_h = np.zeros_like(h), []
        for t in range(steps):
            self.step, self.counted, on = t, mask[t] | self.cyclic, mask[t][:, None]
            def memory_stays(w, norm, x):  # the padded cases' c, which counts with cyclic padding
                return self.norm(w, norm, np.where(on, x, c) if norm.endswith("memory_norm") else x)
            new_h, new_c = lstm(self.w, name, self.w["words"][padded[t]], h, c, memory_stays)
            h, c = np.where(on, new_h, h), np.where(on, new_c, c)
            all_h.append(h)
        return np.array(all_h), mask

    def __call__(self, passages, queries):
        w = self.w
        d, mask = self.states("passage_lstm", passages)
        u = self.states("question_lstm", queries)[0][-1]
        self.step, self.counted = 0, mask | self.cyclic
        keys = self.norm(w, "attend_state.norm", linear(w, "attend_state", d))
        related = ((d @ w["relation.weight"]) * (u @ w["relation.weight"])).sum(-1, keepdims=True)
        e = np.tanh(keys + self.part("attend_question", u) + related) @ w["attend_weight"]
        alpha = np.exp(log_softmax(np.where(mask, e, -1e30).T)).T[..., None]
        mean = (d * mask[..., None]).sum(0) / mask.sum(0)[:, None]
        g = self.part("from_context", (alpha * d).sum(0)) + self.part("from_question", u) + self.part("from_mean", mean)
        return log_softmax(linear(w, "output", np.tanh(g)))


def checks(run):
    sets = {name: read(run.data / name, run.settings["sentences"]) for name in COUNTS}
    everything = sum(sets.values(), [])
    counts = collections.Counter(word for p, q, _ in sets["training"] for word in p + q if word[0] != "@")
    special = ["<eos>", "<unk>", "@placeholder"] + [f"@entity{i}" for i in range(ENTITIES)]
    vocabulary = {word: i for i, word in enumerate(special + sorted(counts, key=lambda word: (-counts[word], word)))}
    assert all(answer in vocabulary for _, _, answer in everything)

    def scores(w, name, kept=False):
        """Loss and error for each permutation of the entities."""
        found = []
        for places in itertools.permutations(range(3, 3 + ENTITIES)):
            change = {3 + i: place for i, place in enumerate(places)}
            def numbers(words):
                return [change.get(number, number) for number in (vocabulary.get(word, 1) for word in words)]
            reader = Reader(w, run.settings["padding"] == "cyclic", kept)
            log_p = reader([numbers(p) for p, _, _ in sets[name]], [numbers(q) for _, q, _ in sets[name]])
            answers = np.array([numbers([a])[0] for _, _, a in sets[name]])
            answers -= 3 if run.settings["answers"] == "entities" else 0
            found.append([-log_p[range(len(answers)), answers].mean(), np.mean(log_p.argmax(1) != answers)])
        return found

    last, w, best = run.last(), run.weights(), run.weights("best")
    yield Check(last, ["valid_loss", "valid_error"], scores(w, "validation"))
    yield Check(last, ["train_loss"], [choice[:1] for choice in scores(run.weights_before(), "training")])
    row = min(run.rows(), key=lambda row: row["valid_error"])  # the first of equally good ones
    yield Check(row, ["valid_loss", "valid_error"], scores(best, "validation"))
    yield Check(run.test(), ["test_loss", "test_error"], scores(best, "test"))
    if "moving_loss" in last:
        yield Check(last, ["moving_loss", "moving_error"], scores(w, "validation", kept=True))
        yield Check(run.test(), ["test_population_loss", "test_population_error"], scores(best, "test", kept=True))
    def error_of(counts, answer):
        """Of a guess among the most frequent ones."""
        most = [word for word in counts if counts[word] == max(counts.values())]
        return 1 - (answer in most) / len(most)
    guesses = []
    for p, q, answer in sets["validation"]:
        found = collections.Counter(word for word in p if word[0] == "@")
        others = {word: found[word] for word in found if word not in q}
        guesses.append([1 - (answer in found) / len(found), error_of(found, answer), error_of(others or found, answer)])
    chance, frequent, other = np.mean(guesses, axis=0)
    yield check(last, chance_error=chance, frequent_error=frequent, frequent_other_error=other)
