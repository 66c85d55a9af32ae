#pragma once
// The sum of exponentials behind every softmax, kept as two numbers.
//
//   sum_j e^x_j = e^largest total,   total = sum_j e^(x_j - largest), from 1 to the number of terms
//
// Nothing overflows. And the logarithm stays in two parts, largest + log(total): their sum would round
// log(total) to the last place of `largest`, which can lose it entirely where the x are far from zero. So
// subtract `largest` first.

#include <cmath>
#include <cstddef>

#include "core/math/math.h"

namespace lamina {

struct ExponentialSum {
  real largest, total;

  /// log(e^x / sum), within one or two units in the last place
  real log_share(real x) const { return (x - largest) - std::log(total); }
};

/// The largest of those that are no NaN. (The total is NaN where one is.)
inline real largest_of(const real* x, size_t count) {
  real most = x[0];
#pragma omp simd reduction(max : most)
  for (size_t i = 0; i < count; ++i) most = x[i] > most ? x[i] : most;
  return most;
}

/// Of `count` > 0 numbers. `keep(i, e)` is called with every e^(x_i - largest).
template <class Keep>
ExponentialSum exponential_sum(const real* x, size_t count, const Keep& keep) {
  const real largest = largest_of(x, count);
  real total = 0;
#pragma omp simd reduction(+ : total)
  for (size_t i = 0; i < count; ++i) {
    const real e = scalar::exp(x[i] - largest);
    keep(i, e);
    total += e;
  }
  return {largest, total};
}
inline ExponentialSum exponential_sum(const real* x, size_t count) {
  return exponential_sum(x, count, [](size_t, real) {});
}

}  // namespace lamina
