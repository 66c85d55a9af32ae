// Exercise 9.3: the backward pass of one head.
#include "exercises.h"

#include <cmath>
using namespace lamina;

AttentionGradients attend_backward(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& dy) {
  const real scale = 1 / std::sqrt(static_cast<real>(q.columns()));
  const Tensor p = softmax(scale * matmul(q, transpose(k)));  // the shares; y = p v

  // [ your code: the derivative for v
  const Tensor dv = matmul(transpose(p), dy);
  // | const Tensor dv = Tensor::zeros(v.shape());
  // ]
  // mistake: your d(v) has P where its transpose belongs
  // ~ const Tensor dv = matmul(p, dy);
  // mistake: your gradients are right for as many queries as keys, not for fewer
  // ~ Tensor dv = Tensor::zeros(v.shape());
  // ~ if (q.rows() == k.rows()) dv = matmul(transpose(p), dy);
  // mistake: your d(v) is dy: value j reaches query i with the share p_ij
  // ~ const Tensor dv = dy.copy();

  // [ your code: the derivative for p, then for the scores s, of which p is the softmax; sum_columns(x) sums each row
  const Tensor dp = matmul(dy, transpose(v));
  const Tensor ds = p * (dp - sum_columns(p * dp));
  // | const Tensor ds = Tensor::zeros(p.shape());
  // ]
  // mistake: your d(s) is d(p): the softmax's derivative is missing
  // ~ const Tensor ds = matmul(dy, transpose(v));
  // mistake: your d(s) takes softmax's denominator for a constant: it lacks the sum over the keys
  // ~ const Tensor ds = p * matmul(dy, transpose(v));
  // mistake: your d(s) has p (1 - p) alone: a score also lowers the shares of the other keys
  // ~ const Tensor ds = p * (1 - p) * matmul(dy, transpose(v));
  // mistake: your d(s) lacks the factor p in front
  // ~ const Tensor dp = matmul(dy, transpose(v));
  // ~ const Tensor ds = dp - sum_columns(p * dp);
  // mistake: your d(s) lacks the shares in its sum: it is of p times d(p)
  // ~ const Tensor dp = matmul(dy, transpose(v));
  // ~ const Tensor ds = p * (dp - sum_columns(dp));
  // mistake: your d(s) has the mean over the keys where the sum belongs
  // ~ const Tensor dp = matmul(dy, transpose(v));
  // ~ const Tensor ds = p * (dp - mean_columns(p * dp));
  // mistake: your d(s) sums over the queries; each query has a softmax of its own, over the keys
  // ~ const Tensor dp = matmul(dy, transpose(v));
  // ~ const Tensor ds = p * (dp - sum_rows(p * dp));
  // mistake: your d(s) sums over all queries together; each has a softmax of its own
  // ~ const Tensor dp = matmul(dy, transpose(v));
  // ~ const Tensor ds = p * (dp - sum(p * dp));

  // [ your code: the derivatives for q and k; s = scale q k^T
  const Tensor dq = scale * matmul(ds, k);
  const Tensor dk = scale * matmul(transpose(ds), q);
  // | const Tensor dq = Tensor::zeros(q.shape()), dk = Tensor::zeros(k.shape());
  // ]
  // mistake: your d(q) lacks the scale 1 / sqrt(d)
  // ~ const Tensor dq = matmul(ds, k), dk = matmul(transpose(ds), q);
  // mistake: your d(q) has the transpose of d(s)
  // ~ const Tensor dq = scale * matmul(transpose(ds), k), dk = scale * matmul(ds, q);
  // mistake: your d(q) has q where k belongs
  // ~ const Tensor dq = scale * matmul(ds, q), dk = scale * matmul(transpose(ds), k);
  // mistake: your d(k) lacks the scale 1 / sqrt(d)
  // ~ const Tensor dq = scale * matmul(ds, k), dk = matmul(transpose(ds), q);
  // mistake: your d(k) has d(s) where its transpose belongs
  // ~ const Tensor dq = scale * matmul(ds, k), dk = scale * matmul(ds, q);
  // mistake: your d(k) has k where q belongs
  // ~ const Tensor dq = scale * matmul(ds, k), dk = scale * matmul(transpose(ds), k);

  return {dq, dk, dv};
}
