#pragma once
// Vocabulary expansion (Kiros et al. 2015): a linear regression from the space of word2vec, fitted on the
// words that both know, maps all other words of word2vec into the encoder's word space.

#include "core/tensor.h"
#include "models/text/vocabulary.h"
#include "models/text/word_vectors.h"

namespace lamina::skip_thoughts {

/// Words with the vectors that an encoder reads for them.
struct WordTable {
  Vocabulary vocabulary;
  Tensor vectors;  ///< [vocabulary x embedding]
};

struct Expansion {
  WordTable words;    ///< the known ones unchanged, then the new ones
  size_t shared = 0;  ///< words that the regression was fitted on
  size_t added = 0;
};

/// Least squares with an intercept, as the public code fits it; of several solutions the one with the smallest
/// weights. Throws Error when no word is in both.
Expansion expand(const WordTable& known, const WordVectors& vectors);

}  // namespace lamina::skip_thoughts
