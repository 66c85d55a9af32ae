#pragma once
// The arithmetic of batch normalization: a column for each unit, a row for each case. Shared by the layers and by the
// recurrent cells, which normalize every step; that of layer normalization is in row_norm.h.
//
//   n_rc = (a_rc - mean_c) / deviation_c,  deviation_c = sqrt(variance_c + epsilon),  y_rc = gain_c n_rc + bias_c
//
// Mean and variance of the N rows that count are measured in two passes:
//
//   m_c = a_0c + 1/N sum_r (a_rc - a_0c)                       rounded
//   rest_c = sum_r (a_rc - m_c)                                the rounding error
//   mean_c = m_c + rest_c / N,    variance_c = 1/D (sum_r (a_rc - m_c)^2 - rest_c^2 / N)
//
// A sum of numbers far from zero loses the digits in which they differ. Distances from the first row are no
// larger than the spread of the column, so their sum keeps these digits; equal rows give exactly their value
// as the mean, and a variance of 0, up to the largest real.
//
// The variance cannot become negative: m_c is one of the two numbers next to the mean, so not all rows are
// off by as much, and rest_c^2 / N is at most half of the sum of squares. It is infinite where squares
// overflow, for spreads of some 1e19 in float; numbers normalized by it become 0. Where distances overflow,
// it is NaN.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "core/math/sum.h"
#include "core/tensor.h"

namespace lamina::column_norm {

/// The rows that statistics are taken over.
struct Cases {
  size_t rows = 0, width = 0;
  const real* values = nullptr;  ///< [rows x width]
  const real* mask = nullptr;    ///< [rows], 0 for a row that is left out; nullptr: none is

  bool counts(size_t r) const { return mask == nullptr || mask[r] != 0; }
  size_t count() const {
    size_t counted = 0;
    for (size_t r = 0; r < rows; ++r) counted += counts(r) ? size_t{1} : size_t{0};
    return counted;
  }
};

/// The rows of a [... x width] with a mask, which may be empty.
inline Cases cases_of(const Tensor& a, const Tensor& mask) {
  return {a.rows(), a.columns(), a.data(), mask.defined() ? mask.data() : nullptr};
}

/// mean[c] and variance[c] for begin <= c < end; `degrees` is D, N or N - 1. Where no row counts the
/// mean is 0 and the variance infinite, so that normalized is 0.
inline void moments(const Cases& x, real degrees, size_t begin, size_t end, real* mean, real* variance) {
  // A row that is left out contributes a distance of 0.
  const auto distances_from = [&](const real* center, const auto& then) {
    return [=, &x](size_t r) {
      const real* const row = x.counts(r) ? x.values + r * x.width : center;
      return [=](size_t c) { return then(row[c] - center[c]); };
    };
  };
  const auto cases = static_cast<real>(x.count());
  if (cases == 0) {
    std::fill(mean + begin, mean + end, real{0});
    std::fill(variance + begin, variance + end, std::numeric_limits<real>::infinity());
    return;
  }
  size_t first = 0;
  while (!x.counts(first)) ++first;
  const real* const start = x.values + first * x.width;
  column_sums(x.rows, begin, end, mean, distances_from(start, [](real d) { return d; }));
  for (size_t c = begin; c < end; ++c) mean[c] = start[c] + mean[c] / cases;
  const auto squares = distances_from(mean, [](real d) { return TwoSums{d, d * d}; });
  for (size_t from = begin; from < end; from += columns_at_once) {
    real rest[columns_at_once];
    const size_t columns = std::min(columns_at_once, end - from);
    two_column_sums(x.rows, 0, columns, rest, variance + from,
                    [&](size_t r) { return [row = squares(r), from](size_t c) { return row(from + c); }; });
    for (size_t c = 0; c < columns; ++c) {
      const real squared = variance[from + c], left = squared - rest[c] * (rest[c] / cases);
      const bool overflows = std::isinf(squared) && std::isfinite(rest[c]);  // the product may do so as well
      variance[from + c] = (overflows ? squared : left) / degrees;
      mean[from + c] += rest[c] / cases;
    }
  }
}

/// What a is normalized with, for each column.
struct Statistics {
  const real *mean, *inverse_deviation;
};

/// inverse[c] = 1 / sqrt(variance[c] + epsilon), which may be computed in place
inline void invert(const real* variance, real epsilon, size_t begin, size_t end, real* inverse) {
  for (size_t c = begin; c < end; ++c) inverse[c] = 1 / std::sqrt(variance[c] + epsilon);
}

/// y_c = gain_c n_c + bias_c for one row
inline void apply(const real* a, Statistics s, const real* gain, const real* bias, size_t begin, size_t end,
                  real* y) {
#pragma omp simd
  for (size_t c = begin; c < end; ++c) y[c] = (a[c] - s.mean[c]) * s.inverse_deviation[c] * gain[c] + bias[c];
}

/// level_c = sum_r dy_rc and along_c = sum_r dy_rc n_rc over the rows that count; those of column `begin` come first.
inline void sum_derivatives(const Cases& a, const real* dy, Statistics s, size_t begin, size_t end,
                            real* level, real* along) {
  static constexpr real zeros[columns_at_once] = {};
  for (size_t from = begin; from < end; from += columns_at_once) {
    const real *const mean = s.mean + from, *const inverse = s.inverse_deviation + from;
    two_column_sums(a.rows, 0, std::min(columns_at_once, end - from), level + (from - begin),
                    along + (from - begin), [&, from](size_t r) {
                      const bool counts = a.counts(r);
                      return [=, d = counts ? dy + r * a.width + from : zeros,
                              x = counts ? a.values + r * a.width + from : mean](size_t c) {
                        return TwoSums{d[c], d[c] * ((x[c] - mean[c]) * inverse[c])};
                      };
                    });
  }
}

/// N and D of the statistics; both infinite where these do not depend on the rows.
struct Divisors {
  real cases, degrees;
};

/// da_rc = gain_c / deviation_c (dy_rc - level_c / N - n_rc along_c / D) from level / N and along / D, of which those of
/// column `begin` come first. da may be dy, or nullptr where it is not needed; rows that do not count become zeros.
inline void subtract_means(const Cases& a, const real* dy, Statistics s, const real* gain, size_t begin,
                           size_t end, const real* level, const real* along, GradientSink da) {
  for (size_t r = 0; da.values != nullptr && r < a.rows; ++r) {
    const size_t start = r * a.width;
    if (!a.counts(r)) {
      if (!da.add) std::fill_n(da.values + start + begin, end - begin, real{0});
      continue;
    }
#pragma omp simd
    for (size_t c = begin; c < end; ++c) {
      const size_t i = start + c;
      const real n = (a.values[i] - s.mean[c]) * s.inverse_deviation[c];
      da.values[i] = (da.add ? da.values[i] : 0) +
                     gain[c] * s.inverse_deviation[c] * (dy[i] - level[c - begin] - n * along[c - begin]);
    }
  }
}

/// The backward pass through moments() and apply(): dbias_c += level_c,  dgain_c += along_c,  and da as above.
inline void backward(const Cases& a, const real* dy, Statistics s, const real* gain, Divisors by,
                     size_t begin, size_t end, GradientSink da, real* dgain, real* dbias) {
  constexpr size_t block = 64;  // columns, which stay in L1 for both passes over the rows
  for (size_t first = begin; first < end; first += block) {
    const size_t columns = std::min(block, end - first);
    real level[block], along[block];
    sum_derivatives(a, dy, s, first, first + columns, level, along);
    for (size_t c = 0; c < columns; ++c) {
      dgain[first + c] += along[c];
      dbias[first + c] += level[c];
      level[c] /= by.cases;
      along[c] /= by.degrees;
    }
    subtract_means(a, dy, s, gain, first, first + columns, level, along, da);
  }
}

/// The mask and the statistics of an op on a whole batch.
struct Scheme {
  const char* op;
  real epsilon;
  Tensor mask = {};       ///< [rows], 0 for a row that becomes zeros and gets no gradient; empty: no mask
  real lost = 0;          ///< D = N - lost
  bool given = false;     ///< mean and variance do not depend on a
  bool measured = false;  ///< mean and variance are those of a already
  /// N of the cases of all ranks (measure_over_ranks()), of which a has some; then the backward pass sums over ranks, too,
  /// but for the derivatives of gain and bias, which the sum of all gradients adds up. 0: a has them all.
  real cases_of_ranks = 0;
  Tensor into = {};  ///< where y goes, a part of a larger tensor; empty: a new tensor
};

/// The op behind BatchNorm and MaskedBatchNorm. a [... x C], gain [C], bias [C] or empty; mean and variance
/// [C] are given or receive those of the rows that count.
Tensor normalize(const Scheme& scheme, const Tensor& a, const Tensor& gain, const Tensor& bias, Tensor mean,
                 Tensor variance);

/// Mean and variance [C] of the rows of a that count, alone, with D = N - lost.
void measure(const Tensor& a, const Tensor& mask, real lost, Tensor mean, Tensor variance);
/// The same over the rows of all ranks that train together (core/distributed/group.h), n of which compute what one computes
/// on all rows. Returns N. Two sums over ranks, and one in the backward pass, of two numbers a column at most; they are in
/// double, in which a rank's mean keeps the digits in which it differs from that of all.
real measure_over_ranks(const Tensor& a, const Tensor& mask, real lost, Tensor mean, Tensor variance);

/// From mean and variance (divided by N_r) of each column over this rank's N_r cases, those over the cases of all ranks:
///   mean = sum_r N_r m_r / N,    variance = sum_r N_r (v_r + (m_r - mean)^2) / (N - lost)
/// Returns N. A rank may have no case. Where none has any, the mean is 0 and the variance infinite. Two sums over ranks.
real merge_ranks(size_t cases, real lost, std::span<real> mean, std::span<real> variance);

/// values[i] = sum over ranks of values[i]. One sum over ranks.
void sum_ranks(std::span<real> values);

}  // namespace lamina::column_norm
