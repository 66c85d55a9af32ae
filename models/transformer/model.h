#pragma once
// A language model: a Transformer (Vaswani et al. 2017) of which no position sees later ones, so that at each it says
// what comes next (Radford et al. 2019).
//
//   x_t    = words[k_t] + positions[t]                     (rotary positions act inside attention instead)
//   x      = block_L(... block_1(x))                       layers/attention/transformer_block.h
//   logits = norm(x) W + b                                 no norm for post-LN, whose blocks end in one

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "layers/attention/positions.h"
#include "layers/attention/transformer_block.h"
#include "layers/embedding.h"
#include "layers/linear.h"

namespace lamina::transformer {

/// How the weights start.
enum class Start {
  /// Matrices as Glorot and Bengio (2010); vectors of tokens and learned positions N(0, 1/2), so that the stream has
  /// the squared length that Xiong et al. (2020) assume, one per feature.
  xavier,
  /// Matrices and tokens N(0, 0.02^2), learned positions N(0, 0.01^2), as in the code of Radford et al. (2019); what
  /// ends in the stream, two matrices per block, divided by sqrt(2 L), as they say in Section 2.3.
  gpt2
};

struct ModelOptions {
  size_t vocabulary = 0;
  size_t width = 256, layers = 6, heads = 8;
  size_t length = 256;  ///< T: positions at most, of which learned ones have a vector each
  Norm norm = Norm::layer;
  Placement placement = Placement::pre;
  Positions positions = Positions::learned;
  Start start = Start::xavier;
  real dropout = 0;  ///< of the sum that enters the first block, and of what each part of a block adds
};

/// What each block keeps of the text so far (layers/attention/key_value_cache.h).
using Caches = std::vector<KeyValueCache>;

class Model {
 public:
  /// Parameters: `words`, `positions` where they are learned, those of TransformerBlock under `block1`, `block2`, ...,
  /// of Normalization under `norm`, of Linear under `output`. Throws Error for sizes of 0, and as TransformerBlock does.
  Model(Parameters& parameters, const ModelOptions& options);

  /// Tokens of B texts [B x t] -> logits of what comes after each [B x t x vocabulary]. `noise` is that of dropout.
  /// Throws Error for tokens that do not make whole texts, and for more positions than are learned.
  Tensor operator()(std::span<const int> tokens, size_t texts, Mode mode, Random noise);
  /// The same without dropout.
  Tensor operator()(std::span<const int> tokens, size_t texts) {
    return (*this)(tokens, texts, Mode::evaluate, Random(0));
  }

  /// Mean over all positions of -log p(next token), in nats.
  Tensor loss(std::span<const int> tokens, std::span<const int> next_tokens, size_t texts, Mode mode,
              Random noise);

  /// A cache for each block, empty.
  Caches caches() const;
  /// Reads t more tokens of one text -> logits of what comes after each of them [t x vocabulary]. Records nothing.
  Tensor next(std::span<const int> tokens, Caches& caches);

  const ModelOptions& options() const { return options_; }

 private:
  Tensor embed(std::span<const int> tokens, size_t texts, size_t first) const;
  Tensor position_vectors(size_t first, size_t count) const;
  void start_as_gpt2(Parameters& parameters) const;

  ModelOptions options_;
  Embedding words_;
  std::optional<Embedding> positions_;  ///< learned ones
  Tensor waves_;                        ///< sinusoidal ones [T x width]
  std::deque<TransformerBlock> blocks_;
  std::optional<Normalization> norm_;
  std::optional<Linear> output_;
  std::vector<int> places_;  ///< 0, 1, 2, ...
  Dropout dropout_;
};

}  // namespace lamina::transformer
