#pragma once
// Sentences side by side, as a recurrent layer takes them.

#include <span>
#include <vector>

#include "core/pool_vector.h"
#include "core/tensor.h"

namespace lamina {

using Sentence = std::vector<int>;  ///< the numbers of its words

/// What stands at padded steps.
enum class Padding {
  zeros,  ///< the word 0
  cyclic  ///< the word 0, then the sentence again, and so on
};

struct TokenBatch {
  size_t steps = 0, rows = 0;  ///< T, the longest sentence, and B
  PoolVector<int> tokens;      ///< [T x B]
  Tensor mask;                 ///< [T x B]: 1, or 0 at padded steps; empty when all are equally long
};

/// The sentences of these numbers side by side. Throws Error for no sentence and for an empty one.
TokenBatch make_batch(std::span<const Sentence> sentences, std::span<const int> chosen,
                      Padding padding = Padding::zeros);

/// The numbers 0, 1, ... of all sentences, shortest sentence first and otherwise in order, in batches of
/// `size` and a last one with the rest: sentences of a batch are as equally long as can be, so little is
/// padded. Throws Error when `size` is 0.
std::vector<std::vector<int>> batches_by_length(std::span<const Sentence> sentences, size_t size);

}  // namespace lamina
