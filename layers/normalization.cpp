#include "layers/normalization.h"

namespace lamina {

Normalization::Normalization(Parameters& parameters, const std::string& name,
                             const NormalizationOptions& options) {
  const auto [norm, features, variance, gain] = options;
  switch (norm) {
    case Norm::none:
    case Norm::weight:
      break;
    case Norm::layer:
      scheme_.emplace<LayerNorm>(parameters, name, LayerNormOptions{.features = features, .gain = gain});
      break;
    case Norm::rms:
      scheme_.emplace<RmsNorm>(parameters, name, LayerNormOptions{.features = features, .gain = gain});
      break;
    case Norm::batch:
      scheme_.emplace<BatchNorm>(parameters, name,
                                 BatchNormOptions{.features = features, .variance = variance, .gain = gain});
      break;
  }
}

Tensor Normalization::operator()(const Tensor& a, Mode mode) {
  struct {
    const Tensor& a;
    Mode mode;
    Tensor operator()(std::monostate) const { return a; }
    Tensor operator()(const LayerNorm& scheme) const { return scheme(a); }
    Tensor operator()(const RmsNorm& scheme) const { return scheme(a); }
    Tensor operator()(BatchNorm& scheme) const { return scheme(a, mode); }
  } const apply{a, mode};
  return std::visit(apply, scheme_);
}

}  // namespace lamina
