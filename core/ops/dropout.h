#pragma once
// Dropout (Srivastava et al. 2014), in the inverted form that needs no change at test time.

#include "core/math/random.h"
#include "core/tensor.h"

namespace lamina {

/// Each element, where it is finite, is zero with probability `rate`, otherwise divided by 1 - rate; x itself when rate
/// is 0. 0 <= rate < 1, else Error. The mask is drawn from `random`.
Tensor dropout(const Tensor& x, real rate, Random& random);

}  // namespace lamina
