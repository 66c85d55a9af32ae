#pragma once
// Products of matrices one by one over leading axes, as attention needs them. `matmul` calls this one for operands
// that are not a single matrix on the right.

#include "core/ops/matmul.h"

namespace lamina::detail {

/// op(a)[i] * op(b)[i] for every i in the leading axes, which are broadcast from the right as NumPy does:
/// [... x M x K] and [... x K x N] give [... x M x N].
Tensor batched_matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options);

}  // namespace lamina::detail
