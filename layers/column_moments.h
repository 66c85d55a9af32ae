#pragma once
// Mean and variance of columns, which batch normalization takes over the cases of a batch.
//
//   mean_c = x_0c + 1/N sum_r (x_rc - x_0c),    variance_c = 1/D sum_r (x_rc - mean_c)^2
//
// A sum of numbers far from zero loses the digits in which they differ. Distances from the first row are no
// larger than the spread of the column, so their sum keeps these digits; equal rows give exactly their value
// as the mean, and a variance of 0.

#include <cstddef>

#include "core/sum.h"

namespace lamina {

/// What the columns are taken from.
struct Cases {
  size_t rows = 0, width = 0;
  const real* values = nullptr;  ///< [rows x width]
  const real* mask = nullptr;    ///< [rows], 0 for a row that is left out; nullptr: none is

  bool counts(size_t r) const { return mask == nullptr || mask[r] != 0; }
  size_t count() const {
    size_t counted = 0;
    for (size_t r = 0; r < rows; ++r) counted += counts(r) ? 1 : 0;
    return counted;
  }
};

/// mean[c] and variance[c] for begin <= c < end; `degrees` is D, N or N - 1. At least one row must count.
inline void column_moments(const Cases& x, real degrees, size_t begin, size_t end, real* mean,
                           real* variance) {
  // A row that is left out is at no distance from anywhere.
  const auto distances_from = [&](const real* center, const auto& then) {
    return [=, &x](size_t r) {
      const real* const row = x.counts(r) ? x.values + r * x.width : center;
      return [=](size_t c) { return then(row[c] - center[c]); };
    };
  };
  size_t first = 0;
  while (!x.counts(first)) ++first;
  const real* const start = x.values + first * x.width;
  const auto cases = static_cast<real>(x.count());
  column_sums(x.rows, begin, end, mean, distances_from(start, [](real d) { return d; }));
  for (size_t c = begin; c < end; ++c) mean[c] = start[c] + mean[c] / cases;
  column_sums(x.rows, begin, end, variance, distances_from(mean, [](real d) { return d * d; }));
  for (size_t c = begin; c < end; ++c) variance[c] /= degrees;
}

}  // namespace lamina
