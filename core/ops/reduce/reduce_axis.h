#pragma once
// Sums and their like over one axis, any of them; negative axes count from the end. The axis is dropped, or kept with
// size 1: sum(x, -1, {.keep = true}). Sums are pairwise and run in a fixed order, so results repeat bit for bit.
//
// Over an axis of size 0 a sum is 0; all other reductions throw Error there. So do all of them for scalars
// and for axes that do not exist, and max, min and argmax over more elements than an int can count.

#include <concepts>
#include <vector>

#include "core/ops/reduce/axis_options.h"
#include "core/tensor.h"

namespace lamina {

Tensor sum(const Tensor& x, int axis, const AxisOptions& options = {});
Tensor mean(const Tensor& x, int axis, const AxisOptions& options = {});

/// The mean square of the deviations from the mean: divided by the number n of elements, as the
/// normalizations do, not by n - 1.
Tensor variance(const Tensor& x, int axis, const AxisOptions& options = {});

/// The largest and the smallest element; NaN where there is one. The gradient goes to the first of several that are
/// equal. max(x, 0) is the largest along axis 0; what a formula calls max(x, 0) is relu(x), or maximum(x, 0).
Tensor max(const Tensor& x, int axis, const AxisOptions& options = {});
Tensor min(const Tensor& x, int axis, const AxisOptions& options = {});

// 0.5 is no axis, and would be 0: the larger of x and 0.5, element by element, is maximum(x, 0.5).
template <std::floating_point Number>
Tensor max(const Tensor& x, Number axis, const AxisOptions& options = {}) = delete;
template <std::floating_point Number>
Tensor min(const Tensor& x, Number axis, const AxisOptions& options = {}) = delete;

/// Where along the axis the largest element is, the first of several, or the first NaN: one number for each
/// element of max(x, axis), row by row.
std::vector<int> argmax(const Tensor& x, int axis);

namespace composed {
Tensor variance(const Tensor& x, int axis, const AxisOptions& options = {});
}

}  // namespace lamina
