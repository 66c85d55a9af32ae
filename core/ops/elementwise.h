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
Tensor operator/(real a, const Tensor& b);
Tensor operator-(const Tensor& a);

// The larger and the smaller of two elements, which are repeated as those of + are. NaN where one of them is; the
// derivative is shared in halves where they are equal.
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor minimum(const Tensor& a, const Tensor& b);
Tensor maximum(const Tensor& a, real b);
Tensor minimum(const Tensor& a, real b);

/// a where the mask is not 0, b where it is. All three are repeated by axes as those of + are; a number is
/// Tensor::full({}, v). What is not chosen gets derivative 0, even where it is infinite or NaN; the mask gets none.
Tensor where(const Tensor& mask, const Tensor& a, const Tensor& b);

Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor square(const Tensor& x);
Tensor abs(const Tensor& x);  ///< derivative 0 at 0
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);  ///< 1 / (1 + e^-x)
Tensor relu(const Tensor& x);  ///< max(x, 0); NaN stays NaN; derivative 0 up to 0, also where dy is infinite
Tensor erf(const Tensor& x);   ///< 2 / sqrt(pi) times the integral of e^-t^2 from 0 to x

/// x^power: 1 for power 0, with derivative 0; NaN for finite x < 0 unless the power is a whole number. At x = 0 the
/// derivative of a power below 1 is infinite.
Tensor pow(const Tensor& x, real power);

/// x limited to [low, high]; NaN stays NaN. The derivative is 1 inside and at the limits; outside it is 0, also where dy
/// is infinite. Either limit may be infinite; throws Error when low is above high or one of them is NaN.
Tensor clamp(const Tensor& x, real low, real high);

// Activations; a NaN stays NaN.

struct GeluOptions {
  bool tanh =
      false;  ///< Phi(x) = 1/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), as GPT-2 has it: off by up to 5e-4
};

/// x Phi(x), Phi being the standard normal distribution (Hendrycks and Gimpel 2016). Keeps its relative accuracy far
/// below 0, down to results of 1e-36; 0 at -infinity.
Tensor gelu(const Tensor& x, const GeluOptions& options = {});

/// x sigmoid(x), also called swish; 0 at -infinity
Tensor silu(const Tensor& x);

/// log(1 + e^x) as max(x, 0) + log(1 + e^-|x|): never overflows, e^x far below 0, x far above
Tensor softplus(const Tensor& x);

/// x above 0, slope x elsewhere; the derivative at 0 is the slope
Tensor leaky_relu(const Tensor& x, real slope = real(0.01));

}  // namespace lamina
