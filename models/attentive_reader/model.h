#pragma once
// The attentive reader (Hermann et al. 2015; Section 6.2): answers a cloze question about a passage. As in
// the public code both readers run in one direction.
//
//   d_t = LSTM_d(words of the passage),  u = last state of LSTM_q(words of the question)
//   r   = sum_t alpha_t d_t              alpha from W_d d_t, W_q u and (U d_t) . (U u): see attention.h
//   g   = tanh(W_r r + W_u u + W_m mean_t d_t)
//   p(answer) = softmax(W_o g + b)
//
// Both LSTMs start from a learned h_0 and a c_0 of zeros. Under layer norm the LSTMs are those of Eq. 20-22.
// "BN-LSTM" normalizes inside the LSTMs, per time step (Cooijmans et al. 2016), "BN-everywhere" W_d d_t,
// W_q u, W_r r, W_u u and W_m mean_t d_t as well.

#include <optional>
#include <span>
#include <string>

#include "layers/embedding.h"
#include "layers/linear.h"
#include "layers/norms/masked_batch_norm.h"
#include "layers/recurrent/recurrent.h"
#include "models/attentive_reader/attention.h"
#include "models/text/batches.h"

namespace lamina::attentive_reader {

struct ModelOptions {
  Norm norm = Norm::none;   ///< of the LSTMs: none, batch or layer
  bool everywhere = false;  ///< batch norm outside of the LSTMs too
  real gain = 0;            ///< initial value of gains; 0 means 1, or 0.1 under batch norm
  size_t vocabulary = 0;
  size_t answers = 0;  ///< to choose from
  size_t embedding = 240, hidden = 240;
  size_t max_steps = 200;     ///< batch norm: population statistics for this many steps
  bool bilinear = true;       ///< the term (U d_t) . (U u)
  bool mean_state = true;     ///< the term W_m mean_t d_t
  bool learn_initial = true;  ///< the LSTMs' h_0; zeros otherwise
  real dropout = real(0.5);   ///< of the words' embeddings and of g
};

/// A batch of questions.
struct QuestionBatch {
  TokenBatch passages, questions;
  bool count_padded = false;  ///< batch norm: padded steps enter the statistics, which suits cyclic padding
};

struct Answers {
  Tensor logits;     ///< [B x answers]
  Tensor attention;  ///< alpha [T x B]
};

class Model {
 public:
  /// Throws Error for a size of 0 and for normalizations that do not exist here.
  Model(Parameters& parameters, const ModelOptions& options);

  /// For the words of `batch`, which must be in the vocabulary. `random` draws the dropout of Mode::train.
  Answers operator()(const QuestionBatch& batch, Mode mode, Random random = Random(0)) const;

  /// Batch norm: the population statistics of all layers.
  std::vector<Population> populations() const;

  const ModelOptions& options() const { return options_; }

 private:
  /// A linear map in the feed-forward parts, with its batch norm if there is one.
  struct Projection {
    Projection(Parameters& parameters, const std::string& name, const ModelOptions& options, bool bias,
               const Initializer& initial);
    Tensor operator()(const Tensor& x, const Tensor& mask, Mode mode) const;
    Linear linear;
    std::optional<MaskedBatchNorm> norm;
  };

  Tensor embed(const TokenBatch& batch, Mode mode, Random random) const;
  Answers answer(const Tensor& states, const QuestionBatch& batch, const Tensor& question, Mode mode,
                 Random random) const;

  ModelOptions options_;
  Embedding words_;
  Lstm passage_lstm_, question_lstm_;
  Projection attend_state_, attend_question_;  // W_d, W_q
  Tensor attend_weight_;                       // w
  std::optional<Linear> relation_;             // U
  Projection from_context_, from_question_;    // W_r, W_u
  std::optional<Projection> from_mean_;        // W_m
  Linear output_;                              // W_o
};

}  // namespace lamina::attentive_reader
