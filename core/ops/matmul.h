#pragma once
// Products of matrices.

#include "core/gemm/gemm.h"
#include "core/tensor.h"

namespace lamina {

struct MatmulOptions {
  Transpose a = Transpose::no, b = Transpose::no;
};

/// op(a) * op(b), where op transposes the last two axes on request. Shapes, for op(a) and op(b):
///
///   [... x K] * [K x N]             -> [... x N]        rows of any number of leading axes, times one matrix
///   [... x M x K] * [... x K x N]   -> [... x M x N]    one product for each index of the leading axes
///
/// In the second form, and in the first when a is transposed, leading axes are broadcast from the right as in NumPy:
/// each pair of sizes is equal or has a 1, a missing axis counts as 1. No operand is copied for it. Throws Error when
/// inner or leading sizes do not fit.
Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options = {});

/// x * weight + bias: x [... x K], weight [K x N], bias [N] or an empty handle.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias);

/// In a backward pass: dL/dweight += x^T dy over `rows` rows of x, which lie `x_stride` apart, and of dy [rows x N].
void contribute_outer_products(const Tensor& weight, size_t rows, const real* x, size_t x_stride,
                               const real* dy);

}  // namespace lamina
