#pragma once
// Mean and variance of columns, which batch normalization takes over the cases of a batch.
//
//   m_c = x_0c + 1/N sum_r (x_rc - x_0c)                       rounded
//   rest_c = sum_r (x_rc - m_c)                                what rounding has cost
//   mean_c = m_c + rest_c / N,    variance_c = 1/D (sum_r (x_rc - m_c)^2 - rest_c^2 / N)
//
// A sum of numbers far from zero loses the digits in which they differ. Distances from the first row are no
// larger than the spread of the column, so their sum keeps these digits; equal rows give exactly their value
// as the mean, and a variance of 0, up to the largest real.
//
// The variance cannot become negative: m_c is one of the two numbers next to the mean, so not all rows are off by as
// much, and rest_c^2 / N is at most half of the sum of squares. It is infinite where squares leave the range of
// real, for spreads of some 1e19 in float; what is normalized by it is 0. Where distances leave it, NaN.

#include <algorithm>
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
  const auto squares = distances_from(mean, [](real d) { return Pair{d, d * d}; });
  for (size_t from = begin; from < end; from += detail::columns_at_once) {
    real rest[detail::columns_at_once];
    const size_t columns = std::min(detail::columns_at_once, end - from);
    two_column_sums(x.rows, 0, columns, rest, variance + from,
                    [&](size_t r) { return [row = squares(r), from](size_t c) { return row(from + c); }; });
    for (size_t c = 0; c < columns; ++c) {
      variance[from + c] = (variance[from + c] - rest[c] * (rest[c] / cases)) / degrees;
      mean[from + c] += rest[c] / cases;
    }
  }
}

}  // namespace lamina
