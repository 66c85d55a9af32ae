#pragma once
// Batches of sentences for a recurrent layer.

#include <span>
#include <vector>

#include "core/memory/cached_vector.h"
#include "core/tensor.h"

namespace lamina {

using Sentence = std::vector<int>;  ///< the numbers of its words

/// The content of padded steps.
enum class Padding {
  zeros,  ///< the word 0
  cyclic  ///< the word 0, then the sentence again, and so on
};

struct TokenBatch {
  size_t steps = 0, rows = 0;  ///< T, the longest sentence, and B
  CachedVector<int> tokens;    ///< [T x B]
  Tensor mask;                 ///< [T x B]: 1, or 0 at padded steps; empty when all are equally long
};

/// The batch of the sentences with these numbers. Throws Error for an empty batch and for an empty sentence.
TokenBatch make_batch(std::span<const Sentence> sentences, std::span<const int> chosen,
                      Padding padding = Padding::zeros);

/// The sentences [begin, end) of a batch, with as many steps.
TokenBatch sentences_of(const TokenBatch& batch, size_t begin, size_t end);

/// The numbers 0, 1, ... of all sentences, shortest sentence first and otherwise in order, in batches of
/// `size` and a last one with the rest: the sentences of a batch have similar lengths, so there is little
/// padding. Throws Error when `size` is 0.
std::vector<std::vector<int>> batches_by_length(std::span<const Sentence> sentences, size_t size);

}  // namespace lamina
