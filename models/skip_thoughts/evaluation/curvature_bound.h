#pragma once
// A bound of the second derivative H of a logistic regression's loss (regression.h), whatever its weights are (Boehning
// 1992), and the inverse of that bound: L-BFGS that begins with it needs fewer steps, as curvature_bound_test.cpp counts.
//
//   H <= 1/2 (I - 1 1^T / K) (x) X^T X / cases + 1 / (C cases) on all weights but the biases
//
// (x) is the Kronecker product of a matrix over the classes but the first with one over the features, to which a 1 for
// the bias is added. The first has only two eigenvalues: 1 / 2K along (1, ..., 1), and 1/2 across it.

#include <span>

#include "core/tensor.h"

namespace lamina::skip_thoughts {

class InverseCurvature {
 public:
  /// x [cases x features].
  InverseCurvature(const Tensor& x, size_t classes, double C);

  /// weights = bound^-1 weights, [classes - 1] x (w, b); on the calling thread when called inside a share.
  void operator()(std::span<real> weights) const;

 private:
  size_t classes_, width_;
  Tensor along_,
      across_;  ///< inverses [width x width] for both eigenvalues; of two classes there is only the first
};

}  // namespace lamina::skip_thoughts
