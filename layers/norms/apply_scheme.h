#pragma once
// How Normalization calls a scheme, whatever its class.

#include <type_traits>
#include <variant>

#include "core/ops/images/pool2d.h"
#include "layers/mode.h"

namespace lamina::detail {

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

}  // namespace lamina::detail
