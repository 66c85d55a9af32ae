#pragma once
// Floating-point formats of 16 and 8 bits, which are stored but not computed with.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace lamina {

namespace detail {

/// sign | exponent | fraction:  +-1.fraction * 2^(exponent - bias), +-0.fraction * 2^(1 - bias) when the exponent
/// is 0.
inline float narrow_value(unsigned bits, int exponent_bits, int fraction_bits) {
  const int exponent = static_cast<int>(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto fraction = static_cast<float>(bits & ((1U << fraction_bits) - 1));
  const float scaled = exponent == 0 ? fraction : fraction + static_cast<float>(1 << fraction_bits);
  const float value = std::ldexp(scaled, (exponent == 0 ? 1 : exponent) - bias - fraction_bits);
  return (bits >> (exponent_bits + fraction_bits) & 1) != 0 ? -value : value;
}

}  // namespace detail

/// F16, IEEE's half precision: 5 bits of exponent, of which the largest means infinity or NaN.
inline float from_half(std::uint16_t bits) {
  if ((bits & 0x7C00U) != 0x7C00U) return detail::narrow_value(bits, 5, 10);
  if ((bits & 0x3FFU) != 0) return std::numeric_limits<float>::quiet_NaN();
  return (bits & 0x8000U) != 0 ? -HUGE_VALF : HUGE_VALF;
}

/// BF16: the upper half of a float.
inline float from_bfloat(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

/// F8_E5M2: the upper half of an F16.
inline float from_e5m2(std::uint8_t bits) { return from_half(static_cast<std::uint16_t>(bits << 8)); }

/// F8_E4M3: without infinities, and all bits but the sign set mean NaN.
inline float from_e4m3(std::uint8_t bits) {
  if ((bits & 0x7FU) == 0x7FU) return std::numeric_limits<float>::quiet_NaN();
  return detail::narrow_value(bits, 4, 3);
}

}  // namespace lamina
