"""Section 6.3: nats per word of both neighbours of a sentence, of books."""
import re

import numpy as np

from common import Check, gru_states, log_softmax

COMMAND = "skip-thoughts"
BOOKS, SENTENCES = 3, 10  # a book is a passage, of which one is held out, we do not know which
RUNS = [["--norm", "none,layer", "--batch", "10", "--lr", "0.001", "--evaluate-every", "1", "--epochs", "{}"]]
PERIODS = 2


def write(folder, random):
    words = "cat dog river old house ran went gave stone bread slowly under tree bird".split()
    for book in range(BOOKS):
        lengths = random.integers(1, 6, SENTENCES)
        lengths[6] = 29  # 30 words with the full stop: too long for training, and so are its neighbours as middles
        text = [" ".join(random.choice(words, length)).capitalize() + random.choice([".", "!"]) for length in lengths]
        (folder / f"book{book}.txt").write_text("\n".join(text) + "\n")


def read(file):
    """The triples of a book, as words."""
    sentences = [re.findall(r"\w+|[.!?]", line.lower()) for line in file.read_text().splitlines()]
    triples = zip(sentences, sentences[1:], sentences[2:])
    return [triple for triple in triples if max(map(len, triple)) < 30]


def nats(w, numbers, triples):
    """-log P of each word of both neighbours, <eos> included."""
    before, middle, after = ([numbers(sentence) for sentence in sentences] for sentences in zip(*triples))
    start = np.zeros((len(middle), len(w["encoder.hidden_weight"])))
    meaning = np.array([h[-1] for h in gru_states(w, "encoder", [w["words"][s] for s in middle], start)])
    found = []
    for decoder, sentences in ("previous", before), ("next", after):
        words_so_far = [np.vstack([0 * w["words"][:1], w["words"][s[:-1]]]) for s in sentences]
        for states, sentence in zip(gru_states(w, decoder, words_so_far, meaning), sentences):
            log_p = log_softmax(np.array(states) @ w["output.weight"] + w["output.bias"])
            found += list(-log_p[range(len(sentence)), sentence])
    return found


def checks(run):
    vocabulary = run.vocabulary()
    def numbers(sentence):
        return [vocabulary[word] for word in sentence] + [0]
    books = [read(file) for file in sorted(run.data.glob("*.txt"))]
    yield Check(run.last(), ["valid_nll"], [[np.mean(nats(run.weights(), numbers, book))] for book in books])
    found = [nats(run.weights_before(), numbers, book) for book in books]
    yield Check(run.last(), ["train_nll"], [[np.mean(sum(found[:i] + found[i + 1:], []))] for i in range(BOOKS)])
