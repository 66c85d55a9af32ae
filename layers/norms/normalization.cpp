#include "layers/norms/normalization.h"

#include "core/ops.h"

namespace lamina {

Normalization::Normalization(Parameters& parameters, const std::string& name,
                             const NormalizationOptions& options) {
  const size_t features = options.features;
  const real gain = options.gain, epsilon = options.epsilon;
  const bool maps = maps_ = options.height * options.width > 1;
  const Norm norm = options.norm;
  const Shape channel = {features}, unit = {options.height, options.width, features};
  if (const NormEntry& entry = entry_of(norm); maps ? !entry.maps : !entry.vectors)
    fail("normalization '", name, "': ", entry.title,
         maps ? text(" is for vectors, not for maps of ", unit) : " needs maps with more than one position");
  switch (norm) {
    case Norm::none:
    case Norm::weight:
    case Norm::standardized:
      break;
    case Norm::rms:
      scheme_ = RmsNorm(parameters, name, {.features = features, .epsilon = epsilon, .gain = gain});
      break;
    case Norm::layer_simple:
    case Norm::detached:
    case Norm::ada:
      scheme_ = ParameterFreeNorm(name, {.features = features, .norm = norm, .epsilon = epsilon});
      break;
    case Norm::dyt:
      scheme_ = DyT(parameters, name, {.features = features, .gain = gain});
      break;
    case Norm::batch:
    case Norm::ghost:
    case Norm::renorm:
      if (norm == Norm::ghost && options.part == 0)  // to BatchNorm it is the whole batch
        fail("normalization '", name, "': parts of 0 cases; take at least 2");
      scheme_ = BatchNorm(parameters, name,
                          {.features = features,
                           .epsilon = epsilon,
                           .variance = options.variance,
                           .gain = gain,
                           .part = norm == Norm::ghost ? options.part : 0,
                           .r_max = norm == Norm::renorm ? options.r_max : 1,
                           .d_max = norm == Norm::renorm ? options.d_max : 0});
      break;
    case Norm::group:
    case Norm::instance:
      scheme_ =
          GroupNorm(parameters, name, channel,
                    {.groups = norm == Norm::group ? options.groups : features, .epsilon = epsilon}, gain);
      break;
    case Norm::layer:
    case Norm::layer_interior:
      if (maps)
        scheme_ = GroupNorm(parameters, name, unit,
                            {.border = norm == Norm::layer ? 0 : options.border, .epsilon = epsilon}, gain);
      else
        scheme_ = LayerNorm(parameters, name, {.features = features, .epsilon = epsilon, .gain = gain});
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
