#pragma once
// Sums in a fixed order that run at the speed of the memory.

#include <utility>

#include "core/real.h"

namespace lamina {

/// The lanes' sum, in halves: every addition but the last few is one of whole vectors.
template <size_t lanes>
[[gnu::always_inline]] inline real sum_of_lanes(real (&running)[lanes]) {
  if constexpr (lanes == 1) {
    return running[0];
  } else {
    real half[lanes / 2];
#pragma omp simd
    for (size_t lane = 0; lane < lanes / 2; ++lane) half[lane] = running[lane] + running[lane + lanes / 2];
    return sum_of_lanes(half);
  }
}

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
#pragma omp simd
  for (size_t lane = 0; lane < count - done; ++lane) running[lane] += term(done + lane);
  return sum_of_lanes(running);
}

/// Two such sums in one pass over what they share.
template <class First, class Second>
std::pair<real, real> two_sums_over(size_t count, const First& first, const Second& second) {
  constexpr size_t lanes = 32;
  alignas(64) real running[lanes] = {}, beside[lanes] = {};
  const auto add = [&](size_t done, size_t lane) {
    running[lane] += first(done + lane);
    beside[lane] += second(done + lane);
  };
  size_t done = 0;
  for (; done + lanes <= count; done += lanes) {
#pragma omp simd
    for (size_t lane = 0; lane < lanes; ++lane) add(done, lane);
  }
#pragma omp simd
  for (size_t lane = 0; lane < count - done; ++lane) add(done, lane);
  return {sum_of_lanes(running), sum_of_lanes(beside)};
}

}  // namespace lamina
