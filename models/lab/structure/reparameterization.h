#pragma once
// Which normalized networks are plain networks with other weights.

#include "layers/linear.h"
#include "layers/norms/batch_norm.h"
#include "models/lab/lab.h"

namespace lamina::lab {

/// a = x W + b, where b may be empty.
struct PlainLayer {
  Tensor weight, bias;

  Tensor operator()(const Tensor& x) const;
};

/// Weight norm: W = g v / norm2(v).
PlainLayer folded(const Linear& linear);
/// Batch norm of x W with expected statistics: W g / sigma, and bias - g mu / sigma.
PlainLayer folded(const Linear& linear, const BatchNorm& norm);

/// max |a - b| / max |b|; NaN where a or b has one.
double relative_difference(const Tensor& a, const Tensor& b);

Lab reparameterization();

}  // namespace lamina::lab
