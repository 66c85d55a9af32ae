#pragma once
// log(1 + x) where softplus needs it, without branches like core/math/math.h. Its relative error over 0 <= x <= 1,
// measured by tests/core/math/log1p_test.cpp, is below 2 ulp in float. In double the function of the standard
// library is used.

#include <cmath>

namespace lamina::scalar {

/// Of x from 0 to 1; NaN gives NaN.
inline double log1p_of_share(double x) { return std::log1p(x); }

/// log(1 + x) = 2 artanh(s) with s = x / (2 + x) up to 1/3: an odd polynomial in s, fitted for the smallest
/// error.
inline float log1p_of_share(float x) {
  const float s = x / (2.0F + x), square = s * s;
  float p = 0.134305045F;
  p = p * square + 0.14117521F;
  p = p * square + 0.200038135F;
  p = p * square + 0.333333194F;
  const float twice = 2.0F * s;
  return twice + twice * (square * p);
}

}  // namespace lamina::scalar
