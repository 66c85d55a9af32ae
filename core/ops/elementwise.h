#pragma once
// Arithmetic and functions of single elements.
//
// The operands of + - * / need not have the same shape: the smaller one is repeated.
//   same shape              element by element
//   size 1, any rank        a number; the result has the other operand's shape, the first's where both are numbers
//   other shapes            as in NumPy: compared from the right, the sizes along each axis must be equal or one of
//                           them 1 (or missing), which is then repeated, in either operand or in both:
//                           [8 x 1 x 6] and [7 x 1] give [8 x 7 x 6]. So a row [columns()] meets every row of the
//                           other operand: biases and gains
//   [... x 1] as the second with the first's rows(), where NumPy's rule fits no axes:
//                           a column, the tensors seen as matrices, repeated along every row: a number per case
// Any other pair throws Error naming both shapes. So does a column that NumPy would pair across operands of another
// rank which it fits by rows: [N x 1] with [N] would give [N x N] (core/ops/broadcast.h).

#include "core/tensor.h"

namespace lamina {

Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);

Tensor operator+(const Tensor& a, real b);
Tensor operator-(const Tensor& a, real b);
Tensor operator*(const Tensor& a, real b);
Tensor operator/(const Tensor& a, real b);
Tensor operator+(real a, const Tensor& b);
Tensor operator-(real a, const Tensor& b);
Tensor operator*(real a, const Tensor& b);
Tensor operator-(const Tensor& a);

Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor square(const Tensor& x);
Tensor abs(const Tensor& x);  ///< derivative 0 at 0
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);  ///< 1 / (1 + e^-x)
Tensor relu(const Tensor& x);     ///< max(x, 0); NaN stays NaN; derivative 0 at 0

}  // namespace lamina
