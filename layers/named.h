#pragma once
// Errors of an op that say which layer called it.

#include <string>

#include "core/error.h"

namespace lamina {

namespace detail {
/// Throws the error again with the layer's name behind that of the op: "linear 'hidden': ...".
[[noreturn]] void fail_in_layer(const std::string& name, const Error& error);
}  // namespace detail

/// What `op` returns. Where it throws an Error, that names the layer.
template <class Op>
auto in_layer(const std::string& name, const Op& op) -> decltype(op()) {
  try {
    return op();
  } catch (const Error& error) {
    detail::fail_in_layer(name, error);
  }
}

}  // namespace lamina
