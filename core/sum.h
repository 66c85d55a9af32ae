#pragma once
// Sums in a fixed order that run at the speed of the memory.

#include "core/real.h"

namespace lamina {

/// term(0) + term(1) + ... + term(count - 1).
///
/// A single running sum would wait several cycles for every addition; sixty-four independent ones fill a few
/// vector registers and keep the adders busy. The order of additions depends on `count` alone.
template <class Term>
real sum_over(size_t count, const Term& term) {
  constexpr size_t lanes = 64;
  alignas(64) real running[lanes] = {};
  size_t done = 0;
  for (; done + lanes <= count; done += lanes) {
#pragma omp simd
    for (size_t lane = 0; lane < lanes; ++lane) running[lane] += term(done + lane);
  }
  real total = 0;
#pragma omp simd reduction(+ : total)
  for (size_t i = done; i < count; ++i) total += term(i);
#pragma omp simd reduction(+ : total)
  for (size_t lane = 0; lane < lanes; ++lane) total += running[lane];
  return total;
}

}  // namespace lamina
