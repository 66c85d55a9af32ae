#pragma once
// Products of matrices.

#include "core/gemm.h"
#include "core/tensor.h"

namespace lamina {

struct MatmulOptions {
  Transpose a = Transpose::no, b = Transpose::no;
};

/// op(a) * op(b), where op transposes on request. b is a matrix; a is a matrix, or any tensor [... x K] that
/// is not transposed, whose leading axes the result keeps. Throws Error when the inner sizes differ.
Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options = {});

/// x * weight + bias: x [... x K], weight [K x N], bias [N] or an empty handle.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias);

}  // namespace lamina
