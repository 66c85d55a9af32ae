#include "models/lab/optimization/drift.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/ops/elementwise.h"
#include "models/evidence/interval.h"
#include "models/lab/vectors.h"

namespace lamina::lab {

namespace {

void require_same_shape(const char* what, const Tensor& before, const Tensor& after) {
  if (before.shape() != after.shape() || before.shape().rank() != 2)
    fail(what, ": ", before.shape(), " and ", after.shape(), "; both must be the same [cases x units]");
}

Vector centered(Vector x) {
  const double mean = moments_of(x).mean;
  for (double& each : x) each -= mean;
  return x;
}
double correlation_of_centered(const Vector& a, const Vector& b) {
  const double lengths = std::sqrt(dot(a, a) * dot(b, b));
  return lengths > 0 ? dot(a, b) / lengths : 0;
}

/// The squared length of the projection of `change` on the plane of 1 and a.
double along_statistics(const Vector& change, const Vector& a) {
  const auto count = static_cast<double>(change.size());
  const double mean = moments_of(change).mean;
  const Vector direction = centered(a);
  const double length = dot(direction, direction), along = dot(change, direction);
  return count * mean * mean + (length > 0 ? along * along / length : 0);
}

}  // namespace

CommonChange common_change(const Tensor& before, const Tensor& after) {
  require_same_shape("common_change", before, after);
  const Tensor change = after - before;
  CommonChange common;
  double squares = 0;
  for (size_t n = 0; n < change.rows(); ++n) {
    const Vector row = row_of(change, n);
    squares += dot(row, row);
    common.over_units += along_statistics(row, row_of(before, n));
  }
  if (!(squares > 0)) fail("common_change: nothing changes; change the weights below");
  std::vector<Vector> columns;
  for (size_t i = 0; i < change.columns(); ++i) {
    const Vector column = column_of(change, i);
    common.over_cases += along_statistics(column, column_of(before, i));
    columns.push_back(centered(column));
  }
  double pairs = 0;
  for (size_t i = 0; i < columns.size(); ++i)
    for (size_t j = 0; j < i; ++j, ++pairs)
      common.correlation += std::fabs(correlation_of_centered(columns[i], columns[j]));
  common.over_units /= squares;
  common.over_cases /= squares;
  common.correlation /= std::max(pairs, 1.0);
  return common;
}

Drift drift_between(const Tensor& before, const Tensor& after) {
  require_same_shape("drift_between", before, after);
  Drift drift;
  double units = 0;
  for (size_t i = 0; i < before.columns(); ++i) {
    const Vector old_column = column_of(before, i), new_column = column_of(after, i);
    const Vector from = centered(old_column), to = centered(new_column);
    const auto count = static_cast<double>(from.size());
    const double was = std::sqrt(dot(from, from) / count), is = std::sqrt(dot(to, to) / count);
    if (!(was > 0 && is > 0)) continue;
    drift.mean += std::fabs(moments_of(new_column).mean - moments_of(old_column).mean) / was;
    drift.deviation += std::fabs(std::log(is / was));
    ++units;
  }
  if (units == 0) fail("drift_between: every unit is constant; take cases that differ");
  return {drift.mean / units, drift.deviation / units};
}

GradientShift gradient_shift(const Tensor& before, const Tensor& after) {
  if (before.shape() != after.shape())
    fail("gradient_shift: ", before.shape(), " and ", after.shape(), "; they must be the same");
  double squares = 0, distance = 0, product = 0, new_squares = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    const auto was = static_cast<double>(before[i]), is = static_cast<double>(after[i]);
    squares += was * was;
    new_squares += is * is;
    product += was * is;
    distance += (is - was) * (is - was);
  }
  return {std::sqrt(distance / squares), product / std::sqrt(squares * new_squares)};
}

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto ranks = [](const std::vector<double>& values) {
    Vector places(values.size());
    for (size_t i = 0; i < values.size(); ++i)
      places[i] =
          static_cast<double>(std::ranges::count_if(values, [&](double other) { return other < values[i]; }));
    return centered(places);
  };
  return correlation_of_centered(ranks(a), ranks(b));
}

}  // namespace lamina::lab
