#pragma once
// exp, tanh and sigmoid of one number, written without branches so that a compiler turns a loop over them
// into vector code. Errors against the exact value, measured by tests/core/math_test.cpp over the whole float
// range:
//
//   exp      1.01 ulp     sigmoid  2.5 ulp     tanh  1.35 ulp
//
// (results that are denormal numbers excepted: threads that flush them return zero). NaN gives NaN,
// infinities their limits. In double the functions of the standard library are used.

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/real.h"

namespace lamina::scalar {

inline double exp(double x) { return std::exp(x); }
inline double tanh(double x) { return std::tanh(x); }
inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// e^x = 2^n e^r with n = round(x / ln 2) and |r| <= ln(2)/2, where a polynomial of degree 6 is enough.
inline float exp(float x) {
  // Beyond these limits the result is infinity or zero; a NaN passes both comparisons unchanged.
  x = x > 89.0F ? 89.0F : x;
  x = x < -104.0F ? -104.0F : x;
  // Adding 1.5 * 2^23 pushes the fraction out of the mantissa: the sum's low bits hold the rounded integer.
  constexpr float magic = 12582912.0F;
  const float shifted = x * 1.44269504F + magic;
  const float n = shifted - magic;
  // ln 2 in two parts, so that r keeps its last bits.
  const float r = (x - n * 0.693145752F) - n * 1.42860677e-6F;
  float p = 1.38146023e-3F;
  p = p * r + 8.36871564e-3F;
  p = p * r + 4.16683890e-2F;
  p = p * r + 1.66665211e-1F;
  p = p * r + 0.499999940F;
  // 1 + (r + r^2 p) and not ((p r + 1) r + 1): the sum in brackets is small, and so is its rounding error.
  p = 1.0F + (r + r * r * p);
  // 2^n in two factors: 2^128 and the denormals need more range than one exponent field has.
  const auto exponent = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(magic);
  const std::int32_t half = exponent >> 1;
  const float low = std::bit_cast<float>(static_cast<std::uint32_t>(half + 127) << 23U);
  const float high = std::bit_cast<float>(static_cast<std::uint32_t>(exponent - half + 127) << 23U);
  return p * low * high;
}

/// 1 / (1 + e^-x)
inline float sigmoid(float x) { return 1.0F / (1.0F + exp(-x)); }

/// Near zero an odd polynomial; elsewhere 1 - 2 / (e^2|x| + 1) with the sign of x.
inline float tanh(float x) {
  const float magnitude = std::fabs(x);
  const float square = x * x;
  float p = -5.70498872745e-3F;
  p = p * square + 2.06390887954e-2F;
  p = p * square - 5.37397155531e-2F;
  p = p * square + 1.33314422036e-1F;
  p = p * square - 3.33332819422e-1F;
  const float small = magnitude + magnitude * square * p;
  const float large = 1.0F - 2.0F / (exp(2.0F * magnitude) + 1.0F);
  // NaN takes the second, where exp has kept it. The sign comes last, so that -0 keeps its own.
  return std::copysign(magnitude < 0.625F ? small : large, x);
}

}  // namespace lamina::scalar
