#pragma once
// How well predicted numbers agree with true ones. Those of two lists throw Error when the counts differ or are 0.

#include <span>
#include <vector>

namespace lamina::skip_thoughts {

/// Pearson's r, the correlation; NaN when either side is constant or has a NaN.
double pearson(std::span<const double> a, std::span<const double> b);

/// Spearman's rho: Pearson's r of the ranks, where equal numbers share the mean of their ranks.
/// NaN in the same cases.
double spearman(std::span<const double> a, std::span<const double> b);

double mean_squared_error(std::span<const double> a, std::span<const double> b);

/// The first of the largest; NaN is below every number. There must be values.
size_t place_of_largest(std::span<const double> values);

/// 1 for the smallest; equal numbers get the mean of their ranks, and NaN gets NaN.
std::vector<double> ranks_of(std::span<const double> values);

}  // namespace lamina::skip_thoughts
