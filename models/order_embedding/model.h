#pragma once
// Order embeddings (Vendrov et al. 2016; Section 6.1): images and captions as points of one space.
//
//   caption   s  = |unit(h_T)|          h = GRU(word embeddings), under layer norm Eq. 26-28
//   image     im = |unit(W f + b)|      f the features of another network
//   order     S(im, s) = -sum_d max(0, s_d - im_d)^2
//   cosine    S(im, s) = sum_d s_d im_d, without the absolute values ("Sym" in Table 2)

#include <string>

#include "core/distributed/batch_part.h"
#include "layers/embedding.h"
#include "layers/linear.h"
#include "layers/recurrent/recurrent.h"
#include "models/text/batches.h"

namespace lamina::order_embedding {

enum class Score { order, cosine };

struct ModelOptions {
  Score score = Score::order;
  Norm norm = Norm::none;  ///< of the GRU: none or layer
  size_t vocabulary = 0;
  size_t features = 4096;  ///< of an image
  size_t embedding = 300;  ///< of a word
  size_t hidden = 1024;    ///< units of the GRU, dimensions of the common space
};

/// The margin by which a pair must score higher than wrong ones.
constexpr real margin_of(Score score) { return score == Score::order ? real(0.05) : real(0.2); }

class Model {
 public:
  /// Parameters `words` and `gru.input_weight`: uniform in +-0.1; `gru.hidden_weight`: orthogonal for each gate;
  /// `image.weight`: Xavier's uniform, +-sqrt(6 / (features + hidden)); biases: 0. As in the public code.
  Model(Parameters& parameters, const ModelOptions& options);

  /// features [N x features] -> points [N x hidden]
  Tensor images(const Tensor& features) const;

  /// sentences, B of them -> points [B x hidden]. Throws Error for words outside the vocabulary.
  Tensor captions(const TokenBatch& sentences) const;

  /// Points [N x hidden] and [M x hidden] -> scores [N x M], larger for pairs that belong together.
  Tensor scores(const Tensor& images, const Tensor& captions) const;

  /// The contrastive loss of B images and a caption of each. Where they are a part of a batch, its summand in the loss
  /// of the batch, in which every pair is contrasted with those of all ranks.
  Tensor loss(const Tensor& features, const TokenBatch& sentences, const BatchPart& part = {}) const;

  /// For clip_each_gradient_norm(): in the public code the GRU's gates and its candidate are tensors of their own, here the
  /// candidate's columns stand behind those of the gates.
  size_t seam(const std::string& name) const { return name.starts_with("gru.") ? 2 * options_.hidden : 0; }

  const ModelOptions& options() const { return options_; }

 private:
  Tensor to_point(const Tensor& x) const;

  ModelOptions options_;
  Embedding words_;
  Gru gru_;
  Linear image_;
};

}  // namespace lamina::order_embedding
