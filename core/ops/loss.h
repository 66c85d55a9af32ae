#pragma once
// Softmax and the losses of classification.

#include <span>

#include "core/tensor.h"

namespace lamina {

Tensor softmax(const Tensor& x);      ///< over the last axis
Tensor log_softmax(const Tensor& x);  ///< over the last axis

/// Mean over the rows of -log softmax(logits)[label], in nats; logits [... x C], one label a row. Throws
/// Error for a wrong number of labels or a label outside 0..C-1.
Tensor cross_entropy(const Tensor& logits, std::span<const int> labels);

/// Element by element -t log sigmoid(x) - (1 - t) log(1 - sigmoid(x)), in nats; targets in [0, 1] of the same
/// shape, which get no gradient. Finite for any finite logit.
Tensor bernoulli_cross_entropy(const Tensor& logits, const Tensor& targets);

}  // namespace lamina
