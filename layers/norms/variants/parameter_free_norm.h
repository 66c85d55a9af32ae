#pragma once
// Layer normalization without parameters, and what is left of it when parts of its derivative are taken away
// (Xu et al. 2019, "Understanding and Improving Layer Normalization").
//
//   n = (a - mu) / sqrt(sigma^2 + epsilon),  mu and sigma^2 over the H units of each case
//
//   LayerNorm-simple   y = n
//   DetachNorm         y = n              with mu and sigma constants in the backward pass
//   AdaNorm            y = C (1 - k n) n  with (1 - k n) a constant in the backward pass
//
// The Jacobian of n is (I - 1 1^T / H - n n^T / H) / sigma, so what LayerNorm-simple passes back has no component along
// 1 nor along the centred input a - mu. DetachNorm's is I / sigma: the same values, and a gradient with both components.
// AdaNorm weighs each unit's derivative by C (1 - k n), less for the larger n, before it goes through that Jacobian.

#include <string>

#include "core/tensor.h"
#include "layers/norms/norm.h"

namespace lamina {

/// Fused: one pass forward, one backward. a [... x H]. Throws Error where there is no H.
///
/// A constant row becomes zeros whatever its size, and so does a single unit, whose derivative is 0. In float, rows
/// whose deviation is below 1e37 are normalized although their squares overflow; a row with a NaN or an infinity
/// becomes NaN.
Tensor layer_norm_simple(const Tensor& a, real epsilon = real(1e-5));

/// The same values, with da = dy / sqrt(sigma^2 + epsilon): not the gradient of the function, but of the one whose mu
/// and sigma are given numbers. In a constant row, and for a single unit, that is dy / sqrt(epsilon), not 0.
Tensor detach_norm(const Tensor& a, real epsilon = real(1e-5));

/// `scale` is C, `slope` k. Rows as in layer_norm_simple: constant ones become zeros, a single unit's derivative is 0.
/// The derivative is that of the function whose (1 - k n) are given numbers. (Of n > 1 / k, which needs more than
/// 1 / k^2 units, the factor and so the sign of the derivative is negative.)
Tensor ada_norm(const Tensor& a, real scale = 1, real slope = real(0.1), real epsilon = real(1e-5));

/// The same functions, written from primitive ops.
namespace composed {
Tensor layer_norm_simple(const Tensor& a, real epsilon = real(1e-5));
Tensor detach_norm(const Tensor& a, real epsilon = real(1e-5));
Tensor ada_norm(const Tensor& a, real scale = 1, real slope = real(0.1), real epsilon = real(1e-5));
}  // namespace composed

struct ParameterFreeNormOptions {
  size_t features = 0;
  Norm norm = Norm::layer_simple;  ///< or detached, or ada
  real epsilon = real(1e-5);
  real scale = 1;          ///< of ada norm: C; the authors use 1 to 2
  real slope = real(0.1);  ///< of ada norm: k
};

/// One of them as a layer. Throws Error for another norm.
class ParameterFreeNorm {
 public:
  ParameterFreeNorm(const std::string& name, const ParameterFreeNormOptions& options);
  /// a [... x features]. Throws Error naming the layer for other shapes.
  Tensor operator()(const Tensor& a) const;

  ParameterFreeNormOptions options;

 private:
  std::string name_;
};

}  // namespace lamina
