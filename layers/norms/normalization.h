#pragma once
// The normalization of a layer's summed inputs, chosen by a value.
//
//   h = f(normalize(a; gain, bias))        (Eq. 5)
//
// Models hold one of these instead of deciding for themselves: a new scheme of a layer's outputs is added to the
// table in norm.h and here.

#include <string>
#include <type_traits>
#include <variant>

#include "layers/norms/batch_norm.h"
#include "layers/norms/group_norm.h"
#include "layers/norms/layer_norm.h"
#include "layers/norms/norm.h"
#include "layers/norms/variants/dyt.h"
#include "layers/norms/variants/parameter_free_norm.h"

namespace lamina {

struct NormalizationOptions {
  Norm norm = Norm::none;
  size_t features = 0;                   ///< for feature maps: their channels
  size_t height = 1, width = 1;          ///< of feature maps
  size_t groups = 8;                     ///< for group norm; must divide the features
  size_t part = 32;                      ///< cases of a part, for ghost batch norm
  real r_max = 3, d_max = 5;             ///< limits of batch renormalization
  size_t border = 2;                     ///< for layer_interior: the overhang of a 5 x 5 kernel's window
  Variance variance = Variance::biased;  ///< for batch norm and its variants
  real gain = 1;                         ///< initial value of every gain
  real epsilon = real(1e-5);             ///< beside the variance
};

class Normalization {
 public:
  /// Parameters as those of the scheme's class under `name`; none for Norm::none, Norm::weight and
  /// Norm::standardized, of which the latter two act on the weights (LinearOptions::weights). Layer norm of feature maps
  /// has a gain and a bias for each unit, the other schemes for each channel. Throws Error for maps under a scheme for
  /// vectors only (norm_table), for instance norm of anything but maps, and for ghost batch norm with parts of 0 cases.
  Normalization(Parameters& parameters, const std::string& name, const NormalizationOptions& options);

  /// a [... x features], or feature maps [N x height x width x features]. `then` runs in the same pass where
  /// there is one.
  Tensor operator()(const Tensor& a, Mode mode, const ReluPool& then = {});

 private:
  std::variant<std::monostate, LayerNorm, RmsNorm, ParameterFreeNorm, DyT, BatchNorm, GroupNorm> scheme_;
  bool maps_ = false;
};

namespace detail {
/// What the scheme makes of a, then relu and pooling. Some schemes see the mode, some run relu and pooling in their own
/// pass. std::monostate leaves a as it is; any other class that can be called in none of these ways does not compile.
template <class Scheme>
Tensor apply_scheme(Scheme& scheme, const Tensor& a, Mode mode, const ReluPool& then) {
  if constexpr (std::is_same_v<Scheme, std::monostate>)
    return relu_pool(a, then);
  else if constexpr (requires { scheme(a, mode, then); })
    return scheme(a, mode, then);
  else if constexpr (requires { scheme(a, mode); })
    return relu_pool(scheme(a, mode), then);
  else if constexpr (requires { scheme(a, then); })
    return scheme(a, then);
  else
    return relu_pool(scheme(a), then);
}
}  // namespace detail

}  // namespace lamina
