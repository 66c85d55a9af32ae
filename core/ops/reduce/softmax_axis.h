#pragma once
// Softmax and the logarithms of its sums over any axis; negative axes count from the end. Over the last one
// they are those of core/ops/loss/loss.h. Throws Error for an axis that does not exist or has size 0.

#include "core/ops/reduce/axis_options.h"
#include "core/tensor.h"

namespace lamina {

Tensor softmax(const Tensor& x, int axis);

/// log(softmax(x)), within a few units of the last place of its result however far from zero x is. NaN where all
/// numbers along the axis are -infinity.
Tensor log_softmax(const Tensor& x, int axis);

/// log sum_k e^x_k. Nothing overflows; -infinity, with derivative 0, where all numbers are -infinity. Far
/// from zero the result is rounded to the last place of the largest x: where shares are wanted, use
/// log_softmax.
Tensor log_sum_exp(const Tensor& x, int axis, const AxisOptions& options = {});

namespace composed {
Tensor softmax(const Tensor& x, int axis);
Tensor log_softmax(const Tensor& x, int axis);
Tensor log_sum_exp(const Tensor& x, int axis, const AxisOptions& options = {});
}  // namespace composed

}  // namespace lamina
