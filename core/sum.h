#pragma once
// Sums in a fixed order that run at the speed of the memory.

#include "core/real.h"

namespace lamina {

/// term(0) + term(1) + ... + term(count - 1).
///
/// A single running sum would wait four cycles for every addition; four independent ones, each over its own
/// quarter and each a vector wide, keep the adders busy. The order of additions depends on `count` alone.
template <class Term>
real sum_over(size_t count, const Term& term) {
  constexpr size_t lanes = 16;
  const size_t quarter = count / 4 / lanes * lanes;
  real first = 0, second = 0, third = 0, fourth = 0, rest = 0;
#pragma omp simd reduction(+ : first, second, third, fourth)
  for (size_t i = 0; i < quarter; ++i) {
    first += term(i);
    second += term(i + quarter);
    third += term(i + 2 * quarter);
    fourth += term(i + 3 * quarter);
  }
#pragma omp simd reduction(+ : rest)
  for (size_t i = 4 * quarter; i < count; ++i) rest += term(i);
  return ((first + second) + (third + fourth)) + rest;
}

}  // namespace lamina
