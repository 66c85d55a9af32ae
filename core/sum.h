#pragma once
// Sums in a fixed order that run at the speed of the memory.

#include <utility>

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

/// Two such sums in one pass over what they share.
template <class First, class Second>
std::pair<real, real> two_sums_over(size_t count, const First& first, const Second& second) {
  constexpr size_t lanes = 32;
  alignas(64) real running[lanes] = {}, beside[lanes] = {};
  size_t done = 0;
  for (; done + lanes <= count; done += lanes) {
#pragma omp simd
    for (size_t lane = 0; lane < lanes; ++lane) {
      running[lane] += first(done + lane);
      beside[lane] += second(done + lane);
    }
  }
  real total = 0, total_beside = 0;
  for (size_t i = done; i < count; ++i) {
    total += first(i);
    total_beside += second(i);
  }
#pragma omp simd reduction(+ : total, total_beside)
  for (size_t lane = 0; lane < lanes; ++lane) {
    total += running[lane];
    total_beside += beside[lane];
  }
  return {total, total_beside};
}

}  // namespace lamina
