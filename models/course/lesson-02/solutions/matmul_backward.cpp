// Exercise: the backward pass of a product of matrices.
#include "exercises.h"
using namespace lamina;

ProductGradients matmul_backward(const Tensor& x, const Tensor& weight, const Tensor& dy) {
  // [ your code: two products; matmul(p, q, {.a = Transpose::yes}) is p^T q, and {.b = Transpose::yes} p q^T
  const Tensor dx = matmul(dy, weight, {.b = Transpose::yes});
  const Tensor dweight = matmul(x, dy, {.a = Transpose::yes});
  // | const Tensor dx = Tensor::zeros(x.shape()), dweight = Tensor::zeros(weight.shape());
  // ]
  // mistake: your dx lacks the transpose of weight
  // ~ const Tensor dx = matmul(dy, weight);
  // ~ const Tensor dweight = matmul(x, dy, {.a = Transpose::yes});
  // mistake: your dx has its factors in the wrong order
  // ~ const Tensor dx = matmul(weight, dy, {.a = Transpose::yes});
  // ~ const Tensor dweight = matmul(x, dy, {.a = Transpose::yes});
  // mistake: your dweight lacks the transpose of x
  // ~ const Tensor dx = matmul(dy, weight, {.b = Transpose::yes});
  // ~ const Tensor dweight = matmul(x, dy);
  // mistake: your dweight is transposed: its factors are in the wrong order
  // ~ const Tensor dx = matmul(dy, weight, {.b = Transpose::yes});
  // ~ const Tensor dweight = matmul(dy, x, {.a = Transpose::yes});
  // mistake: your dweight is the mean over the cases; it is the sum
  // ~ const Tensor dx = matmul(dy, weight, {.b = Transpose::yes});
  // ~ const Tensor dweight = matmul(x, dy, {.a = Transpose::yes}) / static_cast<real>(x.rows());
  // mistake: your dx lacks the sum over the units: it keeps the last one
  // ~ Tensor dx(x.shape());
  // ~ const Tensor dweight = matmul(x, dy, {.a = Transpose::yes});
  // ~ for (size_t r = 0; r < x.rows(); ++r)
  // ~   for (size_t k = 0; k < x.columns(); ++k)
  // ~     for (size_t c = 0; c < dy.columns(); ++c) dx.at(r, k) = dy.at(r, c) * weight.at(k, c);
  // mistake: your dweight lacks the sum over the cases: it keeps the last one
  // ~ const Tensor dx = matmul(dy, weight, {.b = Transpose::yes});
  // ~ Tensor dweight(weight.shape());
  // ~ for (size_t r = 0; r < x.rows(); ++r)
  // ~   for (size_t k = 0; k < x.columns(); ++k)
  // ~     for (size_t c = 0; c < dy.columns(); ++c) dweight.at(k, c) = dy.at(r, c) * x.at(r, k);
  return {dx, dweight};
}
