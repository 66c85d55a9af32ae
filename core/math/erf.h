#pragma once
// The error function and the standard normal distribution of one number, written without branches like core/math/math.h.
// Errors against the exact value, measured by tests/core/math/erf_test.cpp over the whole float range:
//
//   erf  1.3 ulp     normal: below 6 ulp, density 3 ulp
//
// (results and arguments below 1e-36 excepted, parts of which are denormal numbers that threads may flush). NaN gives
// NaN, infinities the limits. In double they are made of the standard library's functions.

#include <cmath>

#include "core/math/math.h"

namespace lamina::scalar {

/// The standard normal distribution function at x, and its density there. The tails keep their relative
/// accuracy: no subtraction from 1 cancels.
template <class Real>
struct Normal {
  Real below, density;
};

inline double erf(double x) { return std::erf(x); }

namespace detail {

/// The normal tail beyond z >= 0 divided by e^(-z^2/2), which falls from 1/2 like 1 / (2.5 z): a polynomial
/// in 1 / (1 + 0.3 z) with relative error below 4e-9 up to z = 15. For erf and the tails.
inline float scaled_tail(float z) {
  const float u = 1.0F / (1.0F + 0.3F * z);
  float p = -2.01724917e-2F;
  p = p * u + 0.109792627F;
  p = p * u - 0.221426174F;
  p = p * u + 0.18174687F;
  p = p * u - 6.99774697e-2F;
  p = p * u + 9.02593434e-2F;
  p = p * u + 8.08581263e-2F;
  p = p * u + 0.10955286F;
  p = p * u + 0.119690925F;
  p = p * u + 0.119674861F;
  return p * u + 5.07202913e-7F;
}

/// erf of 0 <= x <= 1: an odd polynomial with relative error below 2e-9
inline float small_erf(float x) {
  const float square = x * x;
  float p = 7.85385782e-5F;
  p = p * square - 8.01019254e-4F;
  p = p * square + 5.18832775e-3F;
  p = p * square - 2.6853811e-2F;
  p = p * square + 0.112835854F;
  p = p * square - 0.37612626F;
  p = p * square + 0.128379166F;
  return x + x * p;
}

}  // namespace detail

/// Beyond 1 it is 1 - 2 Q(sqrt(2) |x|) with the sign of x, Q being the normal tail.
inline float erf(float x) {
  float magnitude = std::fabs(x);
  magnitude = magnitude > 10.0F ? 10.0F : magnitude;
  const float small = detail::small_erf(magnitude);
  const float large =
      1.0F - 2.0F * exp(-magnitude * magnitude) * detail::scaled_tail(1.41421356F * magnitude);
  return std::copysign(magnitude < 1.0F ? small : large, x);
}

/// In the middle 1/2 + erf(x / sqrt(2)) / 2, elsewhere from the tail. The rounding error of z^2 / 2 would be
/// z^2 times as large in e^(-z^2/2), so the remainder of the rounding is applied separately.
inline Normal<float> normal(float x) {
  float z = std::fabs(x);
  z = z > 15.0F ? 15.0F : z;  // a NaN passes
  const float square = z * z, left = std::fma(z, z, -square);
  const float factor = exp(-0.5F * square) * (1.0F - 0.5F * left);
  const float tail = factor * detail::scaled_tail(z);
  const float middle = 0.5F + 0.5F * std::copysign(detail::small_erf(0.707106781F * z), x);
  return {z < 1.0F ? middle : x < 0 ? tail : 1.0F - tail, factor * 0.398942280F};
}

/// x / sqrt(2) is rounded as well, and erfc amplifies the error as much: the lost digits are applied through
/// its derivative.
inline Normal<double> normal(double x) {
  constexpr double root = 0.70710678118654752, rest = -4.8336466567264567e-17;
  const double at = x > 40 ? 40 : x < -40 ? -40 : x;
  const double square = at * at, left = std::fma(at, at, -square);
  const double density = std::exp(square / -2) * (1 - left / 2) * 0.39894228040143268;
  const double scaled = at * root, lost = std::fma(at, root, -scaled) + at * rest;
  return {std::erfc(-scaled) / 2 + lost * 1.4142135623730951 * density, density};
}

}  // namespace lamina::scalar
