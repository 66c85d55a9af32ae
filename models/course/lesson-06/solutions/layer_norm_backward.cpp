// Exercise: the backward pass of layer norm with gain and bias, for a batch of cases.
#include "exercises.h"
using namespace lamina;

LayerNormGradients layer_norm_backward(const Tensor& a, const Tensor& gain, const Tensor& dy, real epsilon) {
  const Tensor c = a - mean_columns(a);                          // mu: [cases x 1], one number per case
  const Tensor sigma = sqrt(mean_columns(square(c)) + epsilon);  // [cases x 1]
  const Tensor n = c / sigma;                                    // y = gain n + bias

  // [ your code: the derivative for the bias, [units]; sum_rows(x) sums over the cases
  const Tensor dbias = sum_rows(dy);
  // | const Tensor dbias = Tensor::zeros(gain.shape());
  // ]
  // mistake: your d(bias) lacks the sum over the cases: every case has read the same bias
  // ~ const Tensor dbias = dy;
  // mistake: your d(bias) is the mean over the cases; it is the sum
  // ~ const Tensor dbias = mean_rows(dy);

  // [ your code: the derivative for the gain, [units]
  const Tensor dgain = sum_rows(dy * n);
  // | const Tensor dgain = Tensor::zeros(gain.shape());
  // ]
  // mistake: your d(gain) lacks the sum over the cases
  // ~ const Tensor dgain = dy * n;
  // mistake: your d(gain) is that of the bias: it lacks the factor (a - mu) / sigma
  // ~ const Tensor dgain = sum_rows(dy);
  // mistake: your d(gain) has a where (a - mu) / sigma belongs
  // ~ const Tensor dgain = sum_rows(dy * a);
  // mistake: your d(gain) is the mean over the cases; it is the sum
  // ~ const Tensor dgain = mean_rows(dy * n);
  // mistake: your d(gain) sums over the units; it must sum over the cases, and have a number per unit
  // ~ const Tensor dgain = sum_columns(dy * n);

  // [ your code: the derivative for n, then for a, [cases x units]; mean_columns(x) is the mean of each case
  const Tensor dn = dy * gain;
  const Tensor da = (dn - mean_columns(dn) - n * mean_columns(dn * n)) / sigma;
  // | const Tensor da = Tensor::zeros(a.shape());
  // ]
  // mistake: your d(a) lacks the gain: y = gain n + bias, so the derivative for n is gain dy
  // ~ const Tensor da = (dy - mean_columns(dy) - n * mean_columns(dy * n)) / sigma;
  // mistake: your d(a) lacks the division by sigma
  // ~ const Tensor dn = dy * gain;
  // ~ const Tensor da = dn - mean_columns(dn) - n * mean_columns(dn * n);
  // mistake: your d(a) takes mu and sigma for constants: it lacks the two terms with a mean
  // ~ const Tensor da = dy * gain / sigma;
  // mistake: your d(a) takes sigma for a constant: it lacks the term with n
  // ~ const Tensor dn = dy * gain;
  // ~ const Tensor da = (dn - mean_columns(dn)) / sigma;
  // mistake: your d(a) takes mu for a constant: it lacks the mean of the derivative
  // ~ const Tensor dn = dy * gain;
  // ~ const Tensor da = (dn - n * mean_columns(dn * n)) / sigma;
  // mistake: your d(a) takes its means over the whole batch; every case has its own
  // ~ const Tensor dn = dy * gain;
  // ~ const Tensor da = (dn - mean(dn) - n * mean(dn * n)) / sigma;
  // mistake: your d(a) takes its means over the cases (mean_rows); they are over the units (mean_columns)
  // ~ const Tensor dn = dy * gain;
  // ~ const Tensor da = (dn - mean_rows(dn) - n * mean_rows(dn * n)) / sigma;
  // mistake: your d(a) multiplies by the gain last; the means are of gain dy
  // ~ const Tensor da = gain * (dy - mean_columns(dy) - n * mean_columns(dy * n)) / sigma;
  // mistake: your d(a) has gain n where n belongs: y of the lesson's formula is before the gain
  // ~ const Tensor dn = dy * gain, y = gain * n;
  // ~ const Tensor da = (dn - mean_columns(dn) - y * mean_columns(dn * y)) / sigma;
  // mistake: your d(a) has sums where means belong: divide by the number of units
  // ~ const Tensor dn = dy * gain;
  // ~ const Tensor da = (dn - sum_columns(dn) - n * sum_columns(dn * n)) / sigma;
  // mistake: your d(sigma) sums over the whole batch; every case has a sigma of its own
  // ~ const Tensor dn = dy * gain, dsigma = -sum(dn * c) / square(sigma), dv = dsigma / (2 * sigma);
  // ~ const Tensor dc = dn / sigma + dv * (2 / static_cast<real>(a.columns())) * c;
  // ~ const Tensor da = dc - mean_columns(dc);
  // mistake: your d(a) has the wrong sign
  // ~ const Tensor dn = dy * gain;
  // ~ const Tensor da = (n * mean_columns(dn * n) + mean_columns(dn) - dn) / sigma;

  return {da, dgain, dbias};
}
