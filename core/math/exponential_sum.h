#pragma once
// The sum of exponentials behind every softmax, kept as two numbers.
//
//   sum_j e^x_j = e^largest total,   total = sum_j e^(x_j - largest), from 1 to the number of terms
//
// Nothing overflows. And the logarithm stays in two parts, largest + log(total): their sum would round
// log(total) to the last place of `largest`, which can lose it entirely where the x are far from zero. So
// subtract `largest` first.

#include <algorithm>
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
  constexpr size_t most_terms = 1024;  // of one running sum, which rounds too often in a long row
  const real largest = largest_of(x, count);
  double total = 0;
  for (size_t begin = 0; begin < count; begin += most_terms) {
    const size_t end = std::min(begin + most_terms, count);
    real part = 0;
#pragma omp simd reduction(+ : part)
    for (size_t i = begin; i < end; ++i) {
      const real e = scalar::exp(x[i] - largest);
      keep(i, e);
      part += e;
    }
    total += static_cast<double>(part);
  }
  return {largest, static_cast<real>(total)};
}
inline ExponentialSum exponential_sum(const real* x, size_t count) {
  return exponential_sum(x, count, [](size_t, real) {});
}

}  // namespace lamina
