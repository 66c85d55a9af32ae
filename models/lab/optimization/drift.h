#pragma once
// How the changes of one layer reach the next: how alike the changes of its summed inputs are, how far their distribution
// moves, and how much of its gradient is left.

#include <vector>

#include "core/tensor.h"

namespace lamina::lab {

/// A change of summed inputs [cases x units], and how much of it is common. 0 to 1 each.
struct CommonChange {
  /// Share of its squares that lies along 1 and a in each case, over the units: what Eq. 3 of layer norm removes.
  double over_units = 0;
  /// The same along 1 and a of each unit, over the cases: what Eq. 2 of batch norm removes.
  double over_cases = 0;
  /// Mean |correlation| over the cases of two units' changes. Of independent changes of N cases about sqrt(2 / (pi N)).
  double correlation = 0;
};

/// Error where the shapes differ or nothing changes.
CommonChange common_change(const Tensor& before, const Tensor& after);

/// How far the distributions of the columns of two tensors [cases x units] are apart: mean over the units.
struct Drift {
  double mean = 0;       ///< |mean' - mean| / deviation
  double deviation = 0;  ///< |log(deviation' / deviation)|
};

/// Units that are constant before or after do not count. Error where the shapes differ or no unit is left.
Drift drift_between(const Tensor& before, const Tensor& after);

/// The gradient of one layer's weights before and after the layers below it were updated ("internal covariate shift" as
/// Santurkar et al. 2018 define it).
struct GradientShift {
  double distance = 0;  ///< norm2(after - before) / norm2(before)
  double cosine = 1;
};
GradientShift gradient_shift(const Tensor& before, const Tensor& after);

/// Spearman's: the correlation of the ranks of two lists of the same length, of numbers that differ.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace lamina::lab
