#pragma once
// The losses of regression.

#include "core/tensor.h"

namespace lamina {

/// Mean over all elements of (x - t)^2, a scalar. Shapes must be the same, and not empty: [4 x 1] against [4]
/// is an error, not broadcast to all pairs. Both operands get gradients.
Tensor mean_squared_error(const Tensor& predictions, const Tensor& targets);

struct HuberOptions {
  real delta = 1;  ///< where the parabola becomes a line, > 0
};

/// Mean over all elements of d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2), for d = x - t (Huber 1964):
/// quadratic for small errors, linear for outliers. A scalar; shapes and gradients as above. Throws Error for a
/// delta that is not positive.
Tensor huber(const Tensor& predictions, const Tensor& targets, const HuberOptions& options = {});

}  // namespace lamina
