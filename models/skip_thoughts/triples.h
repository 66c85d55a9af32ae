#pragma once
// The order in which a corpus is learned: batches of a sentence with both of its neighbours.
//
// Passages are dealt at random into pools that fit into memory. Each epoch has another order of the pools,
// and of the sentences in each; triples of about equal length form a batch, so there is little padding. A
// sentence of `too_many_words` is in no batch, nor are its neighbours as middles. The batch of a step is a
// function of seed and step.

#include <cstdint>
#include <vector>

#include "core/distributed/batch_part.h"
#include "models/skip_thoughts/corpus.h"
#include "models/skip_thoughts/model.h"

namespace lamina::skip_thoughts {

struct TripleOptions {
  size_t batch = 64;
  std::uint64_t seed = 1;
  size_t pool = 65536;  ///< approximate number of sentences in memory at a time
};

class Triples {
 public:
  /// One passage in twenty, at least one and at most `most_held_out`, is kept for validation: of those that have
  /// triples, which the short last one of a book may not. `corpus` must outlive this. Throws DataError when the rest
  /// does not fill one batch.
  Triples(const Corpus& corpus, const TripleOptions& options);
  static constexpr size_t most_held_out = 16;

  std::uint64_t steps_per_epoch() const { return steps_per_epoch_; }

  /// The batch of training step number `step`.
  Neighbours batch(std::uint64_t step);
  /// A part of it.
  Neighbours batch(std::uint64_t step, const BatchPart& part);

  size_t passages_held_out() const { return held_out_.size(); }
  /// The triples of the passages held out, shortest first, in batches.
  std::vector<Neighbours> held_out() const;

 private:
  /// Sentences of whole passages, and the numbers of those in the middle of a triple.
  struct Pool {
    std::vector<Sentence> sentences;
    std::vector<int> middles;
    size_t longest(int middle) const;
    Neighbours neighbours(std::span<const int> middles) const;
  };
  Pool read(std::span<const int> passages) const;
  void open(std::uint64_t epoch, size_t pool);

  const Corpus& corpus_;
  TripleOptions options_;
  std::vector<int> held_out_;
  std::vector<std::vector<int>> pools_;  // the passages of each
  std::vector<std::uint64_t> steps_;     // in each
  std::uint64_t steps_per_epoch_ = 0;

  Pool open_;  // the current pool, its middles in the order of the epoch
  std::uint64_t open_epoch_ = ~std::uint64_t{0};
  size_t open_pool_ = 0;
};

}  // namespace lamina::skip_thoughts
