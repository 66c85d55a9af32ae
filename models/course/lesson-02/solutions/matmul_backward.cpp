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
  return {dx, dweight};
}
