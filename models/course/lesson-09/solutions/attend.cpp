// Exercise 9.1: one head of attention, from matmul, transpose and softmax.
#include "exercises.h"

#include <cmath>
using namespace lamina;

Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) {
  const real d = static_cast<real>(q.columns());
  // [ your code: matmul(a, b), transpose(x), softmax(x) over the last axis, std::sqrt(d)
  return matmul(softmax(matmul(q, transpose(k)) / std::sqrt(d) + mask), v);
  // | return Tensor::zeros({q.rows(), v.columns()});
  // ]
  // mistake: your scores are not divided by sqrt(d)
  // ~ return matmul(softmax(matmul(q, transpose(k)) + mask), v);
  // mistake: your scores are divided by d; it must be its root
  // ~ return matmul(softmax(matmul(q, transpose(k)) / d + mask), v);
  // mistake: your scores are divided by the root of the number of keys; it must be that of d, the columns of q
  // ~ return matmul(softmax(matmul(q, transpose(k)) / std::sqrt(real(k.rows())) + mask), v);
  // mistake: your softmax runs over the queries: a column must not add up to 1, but each query's row
  // ~ return matmul(softmax(matmul(q, transpose(k)) / std::sqrt(d) + mask, 0), v);
  // mistake: your scores lack the mask
  // ~ return matmul(softmax(matmul(q, transpose(k)) / std::sqrt(d)), v);
  // mistake: your mask is divided by sqrt(d), too; it is added to the scores after that
  // ~ return matmul(softmax((matmul(q, transpose(k)) + mask) / std::sqrt(d)), v);
  // mistake: your mask is added to the shares; it must be added to the scores, before the softmax
  // ~ return matmul(softmax(matmul(q, transpose(k)) / std::sqrt(d)) + mask, v);
  // mistake: your values are weighed by the scores: the softmax is missing
  // ~ return matmul(matmul(q, transpose(k)) / std::sqrt(d) + mask, v);
  // mistake: your result is the shares; they weigh the values
  // ~ return softmax(matmul(q, transpose(k)) / std::sqrt(d) + mask);
}
