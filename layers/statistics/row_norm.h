#pragma once
// The arithmetic of layer normalization on one row, shared by the layer and by the recurrent cells, which
// normalize a row while it is in cache.
//
//   normalized_i = (a_i - mean) / deviation,  deviation = sqrt(1/H sum_i (a_i - mean)^2 + epsilon)
//
//   centered (layer norm, Eq. 3)    mean = 1/H sum_i a_i
//   not centered (RMS norm)         mean = 0

#include <cmath>
#include <limits>

#include "core/math/sum.h"

namespace lamina::row_norm {

struct Statistics {
  real mean;
  real inverse_deviation;
};

/// For rows far from zero: a second mean, of the distances from the first, removes the rounding error of the
/// first. Computed in long double where sums overflow, and for rows that are constant or nearly so: there the
/// rounding error of the mean is as large as the distances from it, and the division by the deviation would
/// magnify it. A centered row with a NaN or an infinity gives NaN here as everywhere.
template <bool centered>
[[gnu::cold, gnu::noinline]] Statistics careful_statistics(const real* a, size_t size, real epsilon,
                                                           real first, real variance) {
  // Deviations below 2^-16 of the mean are close to its last place.
  if (variance < std::numeric_limits<real>::infinity() &&
      variance >= first * first * (1 / real{4294967296})) {
    const real rest = sum_over(size, [=](size_t i) { return a[i] - first; }) / static_cast<real>(size);
    return {first + rest, 1 / std::sqrt(variance - rest * rest + epsilon)};
  }
  const auto at = [=](size_t i) { return static_cast<long double>(a[i]); };
  const auto count = static_cast<long double>(size);
  long double mean = 0, squares = 0;
  if constexpr (centered)
    for (size_t i = 0; i < size; ++i) mean += at(i) / count;
  for (size_t i = 0; i < size; ++i) squares += (at(i) - mean) * (at(i) - mean);
  return {static_cast<real>(mean),
          static_cast<real>(1 / std::sqrt(squares / count + static_cast<long double>(epsilon)))};
}

template <bool centered>
Statistics statistics(const real* a, size_t size, real epsilon) {
  const auto count = static_cast<real>(size);
  const real mean = centered ? sum_over(size, [=](size_t i) { return a[i]; }) / count : 0;
  const real variance = sum_over(size, [=](size_t i) { return (a[i] - mean) * (a[i] - mean); }) / count;
  const real least = centered ? mean * mean * (1 / real{1024}) : 0;
  if (!(variance < std::numeric_limits<real>::infinity()) || variance < least) [[unlikely]]
    return careful_statistics<centered>(a, size, epsilon, mean, variance);
  return {mean, 1 / std::sqrt(variance + epsilon)};
}

/// y_i = gain_i normalized_i + bias_i
inline void apply(const real* a, size_t size, Statistics s, const real* gain, const real* bias, real* y) {
#pragma omp simd
  for (size_t i = 0; i < size; ++i) y[i] = (a[i] - s.mean) * s.inverse_deviation * gain[i] + bias[i];
}

/// The backward pass of n = normalized itself, from its derivative dn:
///
///   da_i = (dn_i - level - n_i along) scale,  level = mean_k(dn_k) (0 if not centered),  along = mean_k(dn_k n_k)
///
/// with scale = 1 / deviation. A single unit is its own mean: its scale is 0, so that da is 0 and not the rounding
/// error of dn - dn divided by a deviation of sqrt(epsilon).
struct Back {
  real level, along, scale;
  real operator()(real dn, real n) const { return (dn - level - n * along) * scale; }
};

/// `dn` and `n` as functions of i.
template <bool centered, class Derivative, class Normalized>
Back back(size_t size, Statistics s, const Derivative& dn, const Normalized& n) {
  const auto count = static_cast<real>(size);
  const TwoSums sums = two_sums_over(
      size, [=](size_t i) { return dn(i) * n(i); }, dn);
  return {.level = centered ? sums.second / count : 0,
          .along = sums.first / count,
          .scale = centered && size == 1 ? 0 : s.inverse_deviation};
}

/// With dn_i = dy_i gain_i, and da as above:  dgain_i += dy_i n_i,   dbias_i += dy_i
///
/// `add` adds to da instead of writing it. da may be dy, or a.
template <bool centered>
void backward(const real* a, const real* dy, size_t size, Statistics s, const real* gain, real* da, bool add,
              real* dgain, real* dbias) {
  const auto normalized = [=](size_t i) { return (a[i] - s.mean) * s.inverse_deviation; };
  const Back through = back<centered>(
      size, s, [=](size_t i) { return dy[i] * gain[i]; }, normalized);
#pragma omp simd
  for (size_t i = 0; i < size; ++i) {
    const real n = normalized(i), upstream = dy[i];
    dgain[i] += upstream * n;
    dbias[i] += upstream;
    da[i] = (add ? da[i] : 0) + through(upstream * gain[i], n);
  }
}

}  // namespace lamina::row_norm
