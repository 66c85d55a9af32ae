#pragma once

#include <cmath>

namespace lamina::analysis {

/// The larger of two numbers, NaN when either is: std::max could drop it, and a NaN must not pass as a small
/// error.
inline double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

}  // namespace lamina::analysis
