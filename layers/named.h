#pragma once
// Errors of an op that say which layer called it.

#include <string>

#include "core/error.h"

namespace lamina {

namespace detail {
/// Rethrows the error with the layer's name after that of the op: "linear 'hidden': ...".
[[noreturn]] void fail_in_layer(const std::string& name, const Error& error);
}  // namespace detail

/// Returns what `op` returns. An Error that it throws names the layer as well.
template <class Op>
auto in_layer(const std::string& name, const Op& op) -> decltype(op()) {
  try {
    return op();
  } catch (const Error& error) {
    detail::fail_in_layer(name, error);
  }
}

}  // namespace lamina
