#pragma once
// Sentences as features: the vectors of an encoder, or bags of words for comparison.

#include <memory>
#include <string>
#include <vector>

#include "models/skip_thoughts/evaluation/features.h"
#include "models/skip_thoughts/expansion.h"
#include "models/skip_thoughts/model.h"
#include "models/text/batches.h"

namespace lamina::skip_thoughts {

class Representation {
 public:
  virtual ~Representation() = default;
  /// One row per sentence.
  virtual std::unique_ptr<Features> of(const std::vector<std::string>& sentences) const = 0;
  /// One row per pair: |u - v| and u v (Tai et al. 2015).
  virtual std::unique_ptr<Features> of_pairs(const std::vector<std::string>& first,
                                             const std::vector<std::string>& second) const = 0;
};

/// Whether <eos> follows a sentence that is encoded. The public code appends it only for SICK, whose
/// sentences end without a full stop.
enum class SentenceEnd { none, eos };

/// The encoder's vectors of sentences [sentences x hidden], each of length 1 (the public code's use_norm),
/// whatever the sentences' lengths; equal sentences are encoded once. A sentence without words is encoded as
/// <eos> alone.
Tensor encode(const Encoder& encoder, const WordTable& words, const std::vector<std::string>& sentences,
              SentenceEnd end = SentenceEnd::none);
/// The same of sentences in numbers, each with its <eos> as Vocabulary::sentence() gives it. One that is written out and read
/// again is another where it has unknown words: "<unk>" is three words to words_of().
Tensor encode_numbered(const Encoder& encoder, const WordTable& words, std::vector<Sentence> sentences,
                       SentenceEnd end = SentenceEnd::none);

/// Single sentences are encoded without <eos>, pairs (SICK's) with it. Both must outlive the result.
std::unique_ptr<Representation> skip_thought_vectors(const Encoder& encoder, const WordTable& words);

/// One feature per word of the given sentences: 1 where it occurs.
std::unique_ptr<Representation> bag_of_words();

}  // namespace lamina::skip_thoughts
