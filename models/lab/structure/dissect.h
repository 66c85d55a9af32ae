#pragma once
// Layer norm's backward pass in parts: its mean, its deviation, both or none of them taken as constants.

#include "core/tensor.h"
#include "models/lab/lab.h"

namespace lamina::lab {

struct Constant {
  bool mean = false, deviation = false;
};

/// y = (a - mu) / sqrt(sigma^2 + epsilon), rows of a [cases x units]; the backward pass takes what is constant as such:
///
///   none       da = (dy - mean(dy) - y mean(dy y)) / sigma
///   mean       da = (dy - y mean(dy y)) / sigma
///   deviation  da = (dy - mean(dy)) / sigma
///   both       da = dy / sigma
Tensor dissected_norm(const Tensor& a, Constant constant, real epsilon = real(1e-5));

/// How much the outputs y(x W) of a layer seem to change with its weights W [inputs x units], by the backward pass: the
/// Fisher matrix F = E_x[J^T J] of outputs with unit noise (Eq. 9), J = dy / dW.
struct Curvature {
  double scaling = 0;   ///< w^T F w / w^T w: along W itself, which re-scales the weight matrix
  double shifting = 0;  ///< the same, mean over moves of all units' weights by one vector, which re-center it
  double any = 0;       ///< mean over all directions: trace F / (inputs units)
};
Curvature curvature_of(const Tensor& x, const Tensor& weight, Constant constant);

Lab dissect();

}  // namespace lamina::lab
