#include "layers/norms/normalization.h"

#include "core/ops.h"

namespace lamina {

Normalization::Normalization(Parameters& parameters, const std::string& name,
                             const NormalizationOptions& options) {
  const size_t features = options.features;
  const real gain = options.gain, epsilon = options.epsilon;
  const bool maps = maps_ = options.height * options.width > 1;
  const auto within_case = [&](const Shape& shape, const GroupNormOptions& chosen) {
    scheme_.emplace<GroupNorm>(parameters, name, shape, chosen, gain);
  };
  const auto batch = [&](BatchNormOptions chosen) {
    chosen.features = features;
    chosen.epsilon = epsilon;
    chosen.variance = options.variance;
    chosen.gain = gain;
    scheme_.emplace<BatchNorm>(parameters, name, chosen);
  };
  const Shape channel = {features}, unit = {options.height, options.width, features};
  if (const NormEntry& entry = entry_of(options.norm); maps ? !entry.maps : !entry.vectors)
    fail("normalization '", name, "': ", entry.title,
         maps ? text(" is for vectors, not for maps of ", unit) : " needs maps with more than one position");
  switch (options.norm) {
    case Norm::none:
    case Norm::weight:
    case Norm::standardized:
      break;
    case Norm::rms:
      scheme_.emplace<RmsNorm>(parameters, name,
                               LayerNormOptions{.features = features, .epsilon = epsilon, .gain = gain});
      break;
    case Norm::layer_simple:
    case Norm::detached:
    case Norm::ada:
      scheme_.emplace<ParameterFreeNorm>(
          name, ParameterFreeNormOptions{.features = features, .norm = options.norm, .epsilon = epsilon});
      break;
    case Norm::dyt:
      scheme_.emplace<DyT>(parameters, name, DyTOptions{.features = features, .gain = gain});
      break;
    case Norm::batch:
      batch({});
      break;
    case Norm::ghost:  // to BatchNorm a part of 0 is the whole batch
      if (options.part == 0) fail("normalization '", name, "': parts of 0 cases; take at least 2");
      batch({.part = options.part});
      break;
    case Norm::renorm:
      batch({.r_max = options.r_max, .d_max = options.d_max});
      break;
    case Norm::group:
      within_case(channel, {.groups = options.groups, .epsilon = epsilon});
      break;
    case Norm::instance:
      within_case(channel, {.groups = features, .epsilon = epsilon});
      break;
    case Norm::layer:
    case Norm::layer_interior:
      if (maps)
        within_case(unit, {.border = options.norm == Norm::layer ? 0 : options.border, .epsilon = epsilon});
      else
        scheme_.emplace<LayerNorm>(parameters, name,
                                   LayerNormOptions{.features = features, .epsilon = epsilon, .gain = gain});
      break;
  }
}

Tensor Normalization::operator()(const Tensor& a, Mode mode, const ReluPool& then) {
  return std::visit(
      [&]<class Scheme>(Scheme& scheme) {
        // A vector, or those of [cases x positions]: GroupNorm takes a matrix of them, or maps.
        if constexpr (std::is_same_v<Scheme, GroupNorm>)
          if (a.shape().rank() == 1 || a.shape().rank() == 3 || (a.shape().rank() == 4 && !maps_))
            return scheme(a.reshape({a.rows(), a.columns()}), then).reshape(a.shape());
        return detail::apply_scheme(scheme, a, mode, then);
      },
      scheme_);
}

}  // namespace lamina
