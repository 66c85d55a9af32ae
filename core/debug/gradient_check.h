#pragma once
// Is a gradient right? Compare it with differences of the function itself.

#include <functional>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace lamina {

struct GradientCheck {
  double worst_error = 0;  ///< largest relative error over all elements of all inputs
  std::string where;       ///< which element that was, with both values
  double noise = 0;        ///< largest error, relative in the same way, that rounding explained away
  size_t compared = 0;     ///< elements; those whose noise is above a tenth were not
};

/// For every element x of every input, compares dL/dx from the tape with the central difference
///
///   (8 (L(x + h) - L(x - h)) - (L(x + 2h) - L(x - 2h))) / 12h        (error of order h^4)
///
/// The relative error is |a - n| / max(|a|, |n|, scale), where scale is a thousandth of the largest
/// derivative of the same input, or a hundred-thousandth of the largest of all, so that noise in a derivative
/// that is zero does not count as an error of 100%; nor does an error that the rounding of L explains: a
/// noise of 4 epsilon |L| / h (1e-12 for usual L and h). Meant for the double build: in float only rough
/// errors can be seen.
///
/// An element whose noise is more than a tenth of its scale is not compared, unless both derivatives are
/// equal. Throws Error when that leaves none: then nothing is known about the gradient.
///
/// Call it outside of a training step: inputs stay marked with require_gradient() and hold dL/dx, which other leaves of the
/// loss have added to their gradients.
///
/// `loss` computes a scalar from the inputs' current values; it must be deterministic and smooth within 2h.
GradientCheck check_gradient(std::vector<Tensor> inputs, const std::function<Tensor()>& loss,
                             double h = 1e-3);

}  // namespace lamina
