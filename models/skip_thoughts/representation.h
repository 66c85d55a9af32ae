#pragma once
// Sentences as features: the vectors of an encoder, or the bag of their words to compare with.

#include <memory>
#include <string>
#include <vector>

#include "models/skip_thoughts/expansion.h"
#include "models/skip_thoughts/features.h"
#include "models/skip_thoughts/model.h"

namespace lamina::skip_thoughts {

class Representation {
 public:
  virtual ~Representation() = default;
  /// A row a sentence.
  virtual std::unique_ptr<Features> of(const std::vector<std::string>& sentences) const = 0;
  /// A row a pair: |u - v| and u v (Tai et al. 2015).
  virtual std::unique_ptr<Features> of_pairs(const std::vector<std::string>& first,
                                             const std::vector<std::string>& second) const = 0;
};

/// Whether <eos> stands behind a sentence that is encoded. The public code has it for SICK alone, whose sentences end
/// without a full stop.
enum class SentenceEnd { none, eos };

/// The encoder's vectors of sentences [sentences x hidden], each of length 1 (the public code's use_norm), whatever
/// the sentences' lengths; equal sentences are encoded once. A sentence without a word is that of <eos> alone.
Tensor encode(const Encoder& encoder, const WordTable& words, const std::vector<std::string>& sentences,
              SentenceEnd end = SentenceEnd::none);

/// Sentences alone without <eos>, pairs (SICK's) with it. Both must outlive the result.
std::unique_ptr<Representation> skip_thought_vectors(const Encoder& encoder, const WordTable& words);

/// A feature for each word of the sentences at hand: 1 where it occurs.
std::unique_ptr<Representation> bag_of_words();

}  // namespace lamina::skip_thoughts
