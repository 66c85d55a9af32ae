#pragma once
// Ops that move numbers without changing them. Reshapes and slices of the leading axis are views and need no
// op: Tensor::reshape, Tensor::slice, Tensor::step.

#include <span>

#include "core/tensor.h"

namespace lamina {

/// A copy of [begin, end) along any axis (negative: from the end).
Tensor slice(const Tensor& x, int axis, size_t begin, size_t end);

/// One behind the other along an axis; all other sizes must agree. Throws Error when there are none.
Tensor concatenate(std::span<const Tensor> parts, int axis);
Tensor concatenate(std::initializer_list<Tensor> parts, int axis);

/// The transpose of a matrix.
Tensor transpose(const Tensor& x);

/// Rows of a table: y[i] = table[indices[i]]; table [V x D], y [indices x D]. The word embedding. Throws
/// Error when an index is outside the table.
Tensor gather(const Tensor& table, std::span<const int> indices);

}  // namespace lamina
