#pragma once
// Dropout as a layer: active in training, the identity in evaluation.

#include "core/ops/dropout.h"
#include "layers/mode.h"

namespace lamina {

class Dropout {
 public:
  /// Throws Error for a rate outside [0, 1).
  explicit Dropout(real chosen) : rate(chosen) {
    if (!(rate >= 0 && rate < 1)) fail("dropout: the rate is ", rate, "; it must be at least 0 and below 1");
  }

  /// x of any shape. For runs that can be resumed, `random` is a function of the step:
  /// Random(seed).split(step).
  Tensor operator()(const Tensor& x, Mode mode, Random& random) const {
    return mode == Mode::train ? dropout(x, rate, random) : x;
  }

  real rate;
};

}  // namespace lamina
