#pragma once
// Ops that move numbers without changing them. Reshapes and slices of the leading axis are views and need no
// op: Tensor::reshape, Tensor::slice, Tensor::step.

#include <span>

#include "core/tensor.h"

namespace lamina {

/// A copy of [begin, end) along any axis (negative: from the end).
Tensor slice(const Tensor& x, int axis, size_t begin, size_t end);

/// The parts one after another along an axis; all other sizes must agree. Throws Error when there are none.
Tensor concatenate(std::span<const Tensor> parts, int axis);
Tensor concatenate(std::initializer_list<Tensor> parts, int axis);

/// Stacks the parts along a new axis, whose size is their number: parts [A x B] give [parts x A x B] along
/// axis 0 and [A x B x parts] along -1. Throws Error when there are none, or when their shapes differ.
Tensor stack(std::span<const Tensor> parts, int axis = 0);
Tensor stack(std::initializer_list<Tensor> parts, int axis = 0);

/// The transpose of a matrix, or of each matrix that the last two axes hold: [... x A x B] -> [... x B x A].
Tensor transpose(const Tensor& x);

/// A copy with its axes in another order: axis i of the result is axis axes[i] of x (negative: from the end). Of
/// [A x B x C], permute(x, {2, 0, 1}) makes [C x A x B].
Tensor permute(const Tensor& x, std::span<const int> axes);
Tensor permute(const Tensor& x, std::initializer_list<int> axes);

/// How many elements are added before and after those of an axis.
struct AxisPadding {
  size_t low = 0, high = 0;
};

/// x with `value` around it, one padding per axis: pad(x, {{}, {1, 1}}) puts a column of zeros on either side of a
/// matrix. Throws Error when the number of paddings is not that of the axes.
Tensor pad(const Tensor& x, std::span<const AxisPadding> padding, real value = 0);
Tensor pad(const Tensor& x, std::initializer_list<AxisPadding> padding, real value = 0);

/// Rows of a table: y[i] = table[indices[i]]; table [V x D], y [indices x D]. The word embedding. Throws
/// Error when an index is outside the table.
Tensor gather(const Tensor& table, std::span<const int> indices);

}  // namespace lamina
