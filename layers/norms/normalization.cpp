#include "layers/norms/normalization.h"

#include "core/ops.h"

namespace lamina {

Normalization::Normalization(Parameters& parameters, const std::string& name,
                             const NormalizationOptions& options) {
  const size_t features = options.features;
  const bool maps = options.height * options.width > 1;
  const auto within_case = [&](const Shape& shape, const GroupNormOptions& chosen) {
    scheme_.emplace<GroupNorm>(parameters, name, shape, chosen, options.gain);
  };
  const Shape channel = {features}, unit = {options.height, options.width, features};
  if (const NormEntry& entry = entry_of(options.norm); maps ? !entry.maps : !entry.vectors)
    fail("normalization '", name, "': ", entry.title,
         maps ? text(" is for vectors, not for maps of ", unit) : " needs maps with more than one position");
  switch (options.norm) {
    case Norm::none:
    case Norm::weight:
      break;
    case Norm::rms:
      scheme_.emplace<RmsNorm>(parameters, name,
                               LayerNormOptions{.features = features, .gain = options.gain});
      break;
    case Norm::batch:
      scheme_.emplace<BatchNorm>(
          parameters, name,
          BatchNormOptions{.features = features, .variance = options.variance, .gain = options.gain});
      break;
    case Norm::group:
      within_case(channel, {.groups = options.groups});
      break;
    case Norm::instance:
      within_case(channel, {.groups = features});
      break;
    case Norm::layer:
    case Norm::layer_interior:
      if (maps)
        within_case(unit, {.border = options.norm == Norm::layer ? 0 : options.border});
      else
        scheme_.emplace<LayerNorm>(parameters, name,
                                   LayerNormOptions{.features = features, .gain = options.gain});
      break;
  }
}

Tensor Normalization::operator()(const Tensor& a, Mode mode, const ReluPool& then) {
  struct {
    const Tensor& a;
    Mode mode;
    const ReluPool& then;
    Tensor operator()(std::monostate) const { return relu_pool(a, then); }
    Tensor operator()(const LayerNorm& scheme) const { return relu_pool(scheme(a), then); }
    Tensor operator()(const RmsNorm& scheme) const { return relu_pool(scheme(a), then); }
    Tensor operator()(const GroupNorm& scheme) const { return scheme(a, then); }
    Tensor operator()(BatchNorm& scheme) const { return scheme(a, mode, then); }
  } const apply{a, mode, then};
  return std::visit(apply, scheme_);
}

}  // namespace lamina
