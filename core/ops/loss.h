#pragma once
// Softmax and the losses of classification.

#include <span>

#include "core/tensor.h"

namespace lamina {

Tensor softmax(const Tensor& x);  ///< over the last axis

/// log(softmax(x)) over the last axis, within a few units of the last place of its result however far from
/// zero x is. A row of -infinity alone gives NaN.
Tensor log_softmax(const Tensor& x);

/// Mean over the rows of -log softmax(logits)[label], in nats, as accurate as log_softmax; logits [... x C],
/// one label per row. Throws Error for a wrong number of labels or a label outside 0..C-1.
Tensor cross_entropy(const Tensor& logits, std::span<const int> labels);

/// Element by element -t log sigmoid(x) - (1 - t) log(1 - sigmoid(x)), in nats; targets in [0, 1] of the same
/// shape, which get no gradient. Finite for any finite logit, and a sum of two terms that are not negative, so
/// no digits cancel.
Tensor bernoulli_cross_entropy(const Tensor& logits, const Tensor& targets);

}  // namespace lamina
