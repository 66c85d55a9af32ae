#pragma once
// Layer normalization (Ba, Kiros and Hinton 2016, Eq. 3 and 5) and its variant without re-centering.
//
//   y = gain (a - mu) / sqrt(sigma^2 + epsilon) + bias,  mu and sigma^2 over the H units of each case
//
// Nothing depends on the other cases of the batch, nor on whether the model trains.

#include <string>

#include "core/parameters.h"
#include "core/tensor.h"

namespace lamina {

/// Fused: one pass forward, one backward. a [... x H], gain [H], bias [H]. Throws Error for other shapes.
///
/// A constant row becomes the bias whatever its size, and so does a single unit, whose derivative is 0. In float,
/// rows whose deviation is below 1e37 are normalized although their squares overflow; a row with a NaN or an
/// infinity becomes NaN.
Tensor layer_norm(const Tensor& a, const Tensor& gain, const Tensor& bias, real epsilon = real(1e-5));

/// y = gain a / sqrt(mean(a^2) + epsilon)  (Zhang and Sennrich 2019). a [... x H], gain [H].
Tensor rms_norm(const Tensor& a, const Tensor& gain, real epsilon = real(1e-5));

/// The same functions, written from primitive ops.
namespace composed {
Tensor layer_norm(const Tensor& a, const Tensor& gain, const Tensor& bias, real epsilon = real(1e-5));
Tensor rms_norm(const Tensor& a, const Tensor& gain, real epsilon = real(1e-5));
}  // namespace composed

struct LayerNormOptions {
  size_t features = 0;
  real epsilon = real(1e-5);
  real gain = 1;  ///< initial value of every gain
};

/// Layer norm with a learned gain and bias per unit, named `name`.gain and `name`.bias.
class LayerNorm {
 public:
  LayerNorm(Parameters& parameters, const std::string& name, const LayerNormOptions& options);
  Tensor operator()(const Tensor& a) const;

  Tensor gain, bias;
  real epsilon;

 private:
  std::string name_;
};

/// RMS norm with a learned gain per unit, named `name`.gain.
class RmsNorm {
 public:
  RmsNorm(Parameters& parameters, const std::string& name, const LayerNormOptions& options);
  Tensor operator()(const Tensor& a) const;

  Tensor gain;
  real epsilon;

 private:
  std::string name_;
};

}  // namespace lamina
