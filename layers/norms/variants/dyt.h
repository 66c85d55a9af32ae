#pragma once
// Dynamic tanh (Zhu et al. 2025, "Transformers without Normalization"): what a trained layer norm looks like, element by
// element, without its statistics.
//
//   y = gain tanh(alpha a) + bias
//
// alpha is one learned number; it takes the place of 1 / sigma.

#include <string>

#include "core/parameters.h"
#include "core/tensor.h"

namespace lamina {

/// Fused: one pass forward, one backward. a [... x H], alpha [1], gain [H], bias [H]. Throws Error for other shapes.
///
/// No element depends on another: a constant row stays one, a single unit is as any other, and a NaN stays where it
/// is. Where alpha a is large, infinite included, tanh is 1 or -1 and its derivative 0.
Tensor dyt(const Tensor& a, const Tensor& alpha, const Tensor& gain, const Tensor& bias);

/// The same function, written from primitive ops.
namespace composed {
Tensor dyt(const Tensor& a, const Tensor& alpha, const Tensor& gain, const Tensor& bias);
}

struct DyTOptions {
  size_t features = 0;
  real alpha = real(0.5);  ///< initial value; the authors take less for wide models
  real gain = 1;           ///< initial value of every gain
};

/// With learned `name`.alpha, `name`.gain and `name`.bias.
class DyT {
 public:
  DyT(Parameters& parameters, const std::string& name, const DyTOptions& options);
  Tensor operator()(const Tensor& a) const;

  Tensor alpha, gain, bias;

 private:
  std::string name_;
};

}  // namespace lamina
