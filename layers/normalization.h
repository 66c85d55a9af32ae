#pragma once
// The normalization of a layer's summed inputs, chosen by a value.
//
//   h = f(normalize(a; gain, bias))        (Eq. 5)
//
// Models hold one of these instead of deciding for themselves, so a new scheme is added here and nowhere
// else.

#include <string>
#include <variant>

#include "layers/batch_norm.h"
#include "layers/layer_norm.h"
#include "layers/norm.h"

namespace lamina {

struct NormalizationOptions {
  Norm norm = Norm::none;
  size_t features = 0;
  Variance variance = Variance::biased;  ///< for batch norm
  real gain = 1;                         ///< where every gain starts
};

class Normalization {
 public:
  /// Parameters as those of LayerNorm, RmsNorm or BatchNorm under `name`; none for Norm::none and
  /// Norm::weight, which acts on the weights (LinearOptions::weight_norm).
  Normalization(Parameters& parameters, const std::string& name, const NormalizationOptions& options);

  /// a [... x features]
  Tensor operator()(const Tensor& a, Mode mode);

  /// Whether it adds a bias itself, which makes one in the layer before it useless.
  static bool has_bias(Norm norm) { return norm == Norm::layer || norm == Norm::batch; }

 private:
  std::variant<std::monostate, LayerNorm, RmsNorm, BatchNorm> scheme_;
};

}  // namespace lamina
