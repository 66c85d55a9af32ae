#pragma once
// The length of a vector, sqrt(sum of x_i^2), whose squares may overflow or underflow although the length
// does not: in float from lengths of 1e19 on, and below 1e-14 they lose digits.

#include <cmath>
#include <cstddef>
#include <limits>

#include "core/real.h"

namespace lamina {

/// The length of element(0), ..., element(count - 1), whose squares add up to `squares` in real; infinite from the
/// largest real on.
template <class Element>
real norm2(real squares, size_t count, const Element& element) {
  constexpr real least = std::numeric_limits<real>::min() * real{1e10};
  if ((squares >= least && squares < std::numeric_limits<real>::infinity()) || std::isnan(squares)) [[likely]]
    return std::sqrt(squares);
  long double exact = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto x = static_cast<long double>(element(i));
    exact += x * x;
  }
  return static_cast<real>(std::sqrt(exact));
}

}  // namespace lamina
