#pragma once
// exp, tanh and sigmoid of one number, written without branches so that a compiler turns a loop over them
// into vector code. Errors against the exact value, measured by tests/core/math/math_test.cpp over all floats:
//
//   exp, exp_up_to_zero      1.01 ulp     sigmoid  2.45 ulp     tanh  1.2 ulp
//
// (results that are denormal numbers excepted: threads that flush them return zero). NaN gives NaN,
// infinities their limits. In double the functions of the standard library are used.

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/real.h"

// They round by adding 1.5 * 2^23 and taking it away again, which these options cancel.
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__)
#error "Lamina: -ffast-math, -Ofast and -fassociative-math make exp, tanh and sigmoid wrong; compile without"
#endif

namespace lamina::scalar {

inline double exp(double x) { return std::exp(x); }
inline double exp_up_to_zero(double x) { return std::exp(x); }
inline double tanh(double x) { return std::tanh(x); }
inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

namespace detail {

/// x / ln 2 = n + r / ln 2 with n = round(x / ln 2).
struct PowerOfTwo {
  std::int32_t n;
  float rest;  ///< e^r - 1; |r| <= ln(2)/2, where a polynomial of degree 6 is enough
};

inline PowerOfTwo power_of_two(float x) {
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
  // The caller adds the 1 of e^r, last: the rest is small, and so is its rounding error.
  return {std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(magic), r + r * r * p};
}

/// 2^n for -126 <= n <= 127, and 0 for n = -127
inline float two_to(std::int32_t n) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(n + 127) << 23U);
}

/// 1 + e^x = (1 + 2^n) + 2^n (e^r - 1) for x up to 88 in absolute value: sigmoid and tanh need no more, and one
/// factor holds 2^n. Rounded once where it matters: for n from -23 to 23 the first sum is exact.
inline float one_plus_exp(float x) {
  const auto [n, rest] = power_of_two(x);
  const float factor = two_to(n);
  return factor * rest + (factor + 1.0F);
}

}  // namespace detail

/// e^x = 2^n e^r
inline float exp(float x) {
  // Beyond these limits the result is infinity or zero; a NaN passes both comparisons unchanged.
  x = x > 89.0F ? 89.0F : x;
  x = x < -104.0F ? -104.0F : x;
  // 2^n in two factors: 2^128 and the denormals need more range than one exponent field has.
  const auto [n, rest] = detail::power_of_two(x);
  const std::int32_t half = n >> 1;
  return (1.0F + rest) * detail::two_to(half) * detail::two_to(n - half);
}

/// e^x for x <= 0, which is all that a softmax needs, in half of the time of exp: one factor holds 2^n. Below -87.3,
/// where e^x is denormal, anything from 0 to the smallest normal number. (Rounding may put x a little above 0.)
inline float exp_up_to_zero(float x) {
  x = x < -88.0F ? -88.0F : x;  // not so a NaN
  const auto [n, rest] = detail::power_of_two(x);
  return (1.0F + rest) * detail::two_to(n);  // from -88 to -87.7 n is -127, for which the factor is 0
}

/// 1 / (1 + e^-x), which from 88 on is 1 or denormal
inline float sigmoid(float x) {
  // Without its sign, a float compares like the integer of the same bits. For integers the limit is a single
  // instruction; for floats, of which NaN would have to pass, it is several.
  constexpr auto most = std::bit_cast<std::int32_t>(88.0F);
  const auto bits = std::bit_cast<std::int32_t>(x);
  const std::int32_t magnitude = bits & 0x7fffffff, sign = bits ^ magnitude;
  const auto limited = std::bit_cast<float>(sign | (magnitude > most ? most : magnitude));
  const float y = 1.0F / detail::one_plus_exp(-limited);
  return std::isnan(x) ? x : y;
}

/// Near zero an odd polynomial; elsewhere 1 - 2 / (e^2|x| + 1) with the sign of x, which from 10 on is 1.
inline float tanh(float x) {
  float magnitude = std::fabs(x);
  magnitude = magnitude > 10.0F ? 10.0F : magnitude;
  const float square = magnitude * magnitude;
  float p = -5.70498872745e-3F;
  p = p * square + 2.06390887954e-2F;
  p = p * square - 5.37397155531e-2F;
  p = p * square + 1.33314422036e-1F;
  p = p * square - 3.33332819422e-1F;
  const float small = magnitude + magnitude * square * p;
  const float large = 1.0F - 2.0F / detail::one_plus_exp(2.0F * magnitude);
  // NaN takes the second, which has kept it. The sign is set last, so that -0 keeps it.
  return std::copysign(magnitude < 0.625F ? small : large, x);
}

}  // namespace lamina::scalar
