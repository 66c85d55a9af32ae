#pragma once
// Skip-thought vectors (Kiros et al. 2015; Section 6.3): the meaning of a sentence is learned by predicting
// its neighbours.
//
//   encoder    h = the last state of a GRU over the sentence's word embeddings, <eos> included
//   decoders   one GRU for the sentence before and one for the sentence after, each reading the words so far
//   output     P(word t | words before t, h) = softmax(state_t W + b), W and b shared by both decoders
//
// How h reaches a decoder: as its first state, as in the authors' public code, or as a summed input of every
// step, as in Kiros et al. (Eq. 5-7), whose decoders start from zero. Under layer norm every summed input of
// every GRU has its own normalization (Eq. 26-28).

#include <vector>

#include "layers/embedding.h"
#include "layers/linear.h"
#include "layers/recurrent/recurrent.h"
#include "models/skip_thoughts/word_loss.h"
#include "models/text/batches.h"

namespace lamina::skip_thoughts {

enum class Condition { initial, every_step };

struct EncoderSizes {
  size_t vocabulary = 20000, embedding = 620, hidden = 2400;
};

struct ModelOptions {
  Norm norm = Norm::none;  ///< of all three GRUs: none or layer
  Condition condition = Condition::initial;
  EncoderSizes sizes = {};
};

/// Sentences, and those before and after each in the same text, with equal numbers of rows.
struct Neighbours {
  TokenBatch previous, current, next;
};

/// The encoder alone: all of a model that is needed to compute vectors.
class Encoder {
 public:
  /// Parameters `words` and `encoder`: uniform in +-0.1, recurrent weights orthogonal.
  Encoder(Parameters& parameters, Norm norm, const EncoderSizes& sizes);

  /// B sentences -> [B x hidden]. Throws Error for words outside the vocabulary.
  Tensor operator()(const TokenBatch& sentences) const;

  /// What the GRU makes of word vectors [N x embedding] -> [N x 3 hidden], the same wherever a word stands.
  Tensor project(const Tensor& words) const { return gru_.project(words); }

  /// Projected words [T x B x 3 hidden], which it consumes, instead of words; a mask as in SequenceOptions
  /// -> [B x hidden].
  Tensor read(const Tensor& projected, const Tensor& mask) const;

  const Embedding& words() const { return words_; }

 private:
  Embedding words_;
  Gru gru_;
};

class Model {
 public:
  Model(Parameters& parameters, const ModelOptions& options);

  const Encoder& encoder() const { return encoder_; }

  /// -log P of a word, in nats: the mean over all words of both neighbours, <eos> included.
  Tensor loss(const Neighbours& sentences) const;

 private:
  /// The states [T x B x hidden] from which words 0 to T - 1 are predicted.
  Tensor decode(const Gru& decoder, const TokenBatch& sentences, const Tensor& meaning) const;

  ModelOptions options_;
  Encoder encoder_;
  Gru previous_, next_;
  Linear output_;
};

/// The words of a batch that a decoder predicts: `no_word` at padded steps.
std::vector<int> words_to_predict(const TokenBatch& sentences);

}  // namespace lamina::skip_thoughts
