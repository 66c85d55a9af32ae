#pragma once
// 2^x for x <= 0, which is all that a softmax needs: its largest exponent is 0. In powers of two, because the factor
// log2 e = 1 / ln 2 can be part of the scale of the scores, and then half of what `scalar::exp` does is not needed.

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/real.h"

namespace lamina::attention_head {

inline constexpr real log2_e = real(1.44269504088896340736);

inline double power_of_two(double x) { return std::exp2(x); }

/// Within 1.1 units in the last place; 0 below 2^-127, for -infinity too. NaN stays NaN.
inline float power_of_two(float x) {
  x = x < -127.0F ? -127.0F : x;  // not so a NaN
  // Adding 1.5 * 2^23 pushes the fraction out of the mantissa: the sum's low bits hold the rounded integer n.
  constexpr float magic = 12582912.0F;
  const float shifted = x + magic;
  const float r = x - (shifted - magic);  // from -1/2 to 1/2, exact
  float p = 1.535336196e-4F;              // (2^r - 1) / r
  p = p * r + 1.339887385e-3F;
  p = p * r + 9.618436918e-3F;
  p = p * r + 5.550332367e-2F;
  p = p * r + 2.402264774e-1F;
  p = p * r + 6.931471825e-1F;
  // 2^n: n moved to where the exponent is; 0 for n = -127.
  const std::uint32_t n = std::bit_cast<std::uint32_t>(shifted) << 23U;
  return (p * r + 1.0F) * std::bit_cast<float>(n + (127U << 23U));
}

}  // namespace lamina::attention_head
