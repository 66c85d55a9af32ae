#pragma once
// Arithmetic and functions of single elements.
//
// The second operand of + - * / may be smaller and is then repeated, the tensors seen as matrices
// (rows() x columns()) of the first operand:
//   same shape              element by element
//   [columns]               a row vector, repeated for every row: biases and gains
//   [... x 1], rows() equal a column vector, repeated along every row: a mean or deviation per case
//   size 1                  a number
// Any other pair throws Error naming both shapes.

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
