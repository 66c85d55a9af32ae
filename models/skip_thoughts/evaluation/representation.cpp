#include "models/skip_thoughts/evaluation/representation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/ops.h"
#include "core/tape.h"
#include "models/skip_thoughts/corpus.h"

namespace lamina::skip_thoughts {

namespace {

class SkipThoughtVectors final : public Representation {
 public:
  SkipThoughtVectors(const Encoder& encoder, const WordTable& words) : encoder_(encoder), words_(words) {}

  std::unique_ptr<Features> of(const std::vector<std::string>& sentences) const override {
    return std::make_unique<DenseFeatures>(encode(encoder_, words_, sentences));
  }

  std::unique_ptr<Features> of_pairs(const std::vector<std::string>& first,
                                     const std::vector<std::string>& second) const override {
    std::vector<std::string> all = first;
    all.insert(all.end(), second.begin(), second.end());
    const Tensor vectors = encode(encoder_, words_, all, SentenceEnd::eos);
    const size_t width = vectors.columns();
    Tensor pairs({first.size(), 2 * width});
    for (size_t row = 0; row < first.size(); ++row) {
      const real *const u = vectors.data() + row * width, *const v =
                                                              vectors.data() + (first.size() + row) * width;
      real* const to = pairs.data() + row * 2 * width;
      for (size_t i = 0; i < width; ++i) {
        to[i] = std::fabs(u[i] - v[i]);
        to[width + i] = u[i] * v[i];
      }
    }
    return std::make_unique<DenseFeatures>(pairs);
  }

 private:
  const Encoder& encoder_;
  const WordTable& words_;
};

/// Numbers words in the order of their first occurrence.
class WordNumbers {
 public:
  /// The words of a sentence, each once, in rising order.
  std::vector<int> numbers(const std::string& sentence) {
    std::vector<int> found;
    for (const std::string& word : words_of(sentence))
      found.push_back(numbers_.emplace(word, static_cast<int>(numbers_.size())).first->second);
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }
  size_t size() const { return numbers_.size(); }

 private:
  WordMap<int> numbers_;
};

class BagOfWords final : public Representation {
 public:
  std::unique_ptr<Features> of(const std::vector<std::string>& sentences) const override {
    WordNumbers words;
    std::vector<SparseFeatures::Row> rows;
    for (const std::string& sentence : sentences) {
      SparseFeatures::Row row;
      for (const int word : words.numbers(sentence)) row.emplace_back(word, real(1));
      rows.push_back(std::move(row));
    }
    return std::make_unique<SparseFeatures>(std::move(rows), words.size());
  }

  /// |u - v| is 1 for the words of only one sentence, u v for those of both: columns 2 w and 2 w + 1.
  std::unique_ptr<Features> of_pairs(const std::vector<std::string>& first,
                                     const std::vector<std::string>& second) const override {
    WordNumbers words;
    std::vector<SparseFeatures::Row> rows;
    for (size_t i = 0; i < first.size(); ++i) {
      std::map<int, int> count;
      for (const std::string* const sentence : {&first[i], &second[i]})
        for (const int word : words.numbers(*sentence)) ++count[word];
      SparseFeatures::Row row;
      for (const auto& [word, sides] : count) row.emplace_back(2 * word + (sides == 2 ? 1 : 0), real(1));
      rows.push_back(std::move(row));
    }
    return std::make_unique<SparseFeatures>(std::move(rows), 2 * words.size());
  }
};

/// Batches of sentences of similar length: at most 64, and fewer when they are long, to bound the memory.
std::vector<std::vector<int>> bounded_batches(const std::vector<Sentence>& sentences) {
  constexpr size_t most_rows = 64, most_words = 8192;
  std::vector<std::vector<int>> batches;
  for (const std::vector<int>& batch : batches_by_length(sentences, most_rows)) {
    const size_t longest = sentences[static_cast<size_t>(batch.back())].size();
    const size_t rows = std::clamp<size_t>(most_words / longest, 1, most_rows);
    for (size_t begin = 0; begin < batch.size(); begin += rows) {
      const auto from = batch.begin() + static_cast<std::ptrdiff_t>(begin);
      batches.emplace_back(from, from + static_cast<std::ptrdiff_t>(std::min(rows, batch.size() - begin)));
    }
  }
  return batches;
}

/// Some sentences, each once, and where in them each of the given ones is.
struct DifferentSentences {
  std::vector<Sentence> sentences = {};
  std::vector<int> place = {};
};

DifferentSentences different(std::vector<Sentence> sentences, SentenceEnd end) {
  std::map<Sentence, int> first_place;
  DifferentSentences found;
  for (Sentence& numbers : sentences) {
    if (end == SentenceEnd::none && numbers.size() > 1) numbers.pop_back();
    const auto [entry, added] = first_place.emplace(numbers, static_cast<int>(found.sentences.size()));
    if (added) found.sentences.push_back(std::move(numbers));
    found.place.push_back(entry->second);
  }
  return found;
}

/// The words that the sentences use; numbers them anew, from 0 in the order of their first occurrence.
std::vector<int> renumber_words(std::vector<Sentence>& sentences, size_t vocabulary) {
  std::vector<int> used, number(vocabulary, -1);
  for (Sentence& sentence : sentences)
    for (int& word : sentence) {
      int& own = number[static_cast<size_t>(word)];
      if (own < 0) {
        own = static_cast<int>(used.size());
        used.push_back(word);
      }
      word = own;
    }
  return used;
}

}  // namespace

Tensor encode(const Encoder& encoder, const WordTable& words, const std::vector<std::string>& sentences,
              SentenceEnd end) {
  std::vector<Sentence> numbered;
  numbered.reserve(sentences.size());
  for (const std::string& sentence : sentences)
    numbered.push_back(words.vocabulary.sentence(words_of(sentence)));
  return encode_numbered(encoder, words, std::move(numbered), end);
}

Tensor encode_numbered(const Encoder& encoder, const WordTable& words, std::vector<Sentence> sentences,
                       SentenceEnd end) {
  const Tape::Pause pause;
  auto [read, place] = different(std::move(sentences), end);
  const std::vector<int> used = renumber_words(read, words.vocabulary.size());
  const Tensor projected = encoder.project(gather(words.vectors, used));
  Tensor vectors;  // of `read`
  for (const std::vector<int>& rows : bounded_batches(read)) {
    const TokenBatch batch = make_batch(read, rows);
    const Tensor inputs =
        gather(projected, batch.tokens).reshape({batch.steps, batch.rows, projected.columns()});
    const Tensor some = unit_rows(encoder.read(inputs, batch.mask));
    if (!vectors.defined()) vectors = Tensor({read.size(), some.columns()});
    for (size_t i = 0; i < rows.size(); ++i)
      std::copy_n(some.data() + i * some.columns(), some.columns(),
                  vectors.data() + static_cast<size_t>(rows[i]) * some.columns());
  }
  return gather(vectors, place);
}

std::unique_ptr<Representation> skip_thought_vectors(const Encoder& encoder, const WordTable& words) {
  return std::make_unique<SkipThoughtVectors>(encoder, words);
}

std::unique_ptr<Representation> bag_of_words() { return std::make_unique<BagOfWords>(); }

}  // namespace lamina::skip_thoughts
