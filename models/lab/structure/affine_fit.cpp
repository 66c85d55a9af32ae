#include "models/lab/structure/affine_fit.h"

#include <cmath>
#include <vector>

#include "core/error.h"
#include "models/lab/vectors.h"

namespace lamina::lab {

namespace {

/// Takes from `column` what lies along the columns of an orthonormal basis; twice, because the first time leaves
/// rounding errors of the size of what it took.
void remove(Vector& column, const std::vector<Vector>& basis) {
  for (int pass = 0; pass < 2; ++pass)
    for (const Vector& direction : basis) {
      const double along = dot(column, direction);
      for (size_t i = 0; i < column.size(); ++i) column[i] -= along * direction[i];
    }
}

/// Adds a column to an orthonormal basis, unless it lies in its span.
void extend(std::vector<Vector>& basis, Vector column) {
  const double before = std::sqrt(dot(column, column));
  remove(column, basis);
  const double after = std::sqrt(dot(column, column));
  if (!(after > 1e-10 * before)) return;
  for (double& value : column) value /= after;
  basis.push_back(std::move(column));
}

/// Sums over outputs: what the basis leaves of each, and what its first direction, the constant, leaves.
struct Left {
  double residual = 0, deviation = 0, size = 0;

  void add(const Vector& y, const std::vector<Vector>& basis) {
    Vector centred = y, rest = y;
    remove(centred, {basis.front()});
    remove(rest, basis);
    deviation += dot(centred, centred);
    size += dot(y, y);
    residual += dot(rest, rest);
  }
  /// Of what does not vary only rounding is left. NaN where y has one.
  double share() const { return deviation <= 1e-24 * size ? 0 : std::sqrt(residual / deviation); }
};

}  // namespace

double affine_residual(const Tensor& x, const Tensor& y) {
  if (x.rows() != y.rows()) fail("affine_residual: x and y have other numbers of cases; give the same");
  std::vector<Vector> basis;
  extend(basis, Vector(x.rows(), 1.0));
  for (size_t j = 0; j < x.columns(); ++j) extend(basis, column_of(x, j));
  Left left;
  for (size_t j = 0; j < y.columns(); ++j) left.add(column_of(y, j), basis);
  return left.share();
}

double gain_and_bias_residual(const Tensor& x, const Tensor& y) {
  if (x.shape() != y.shape()) fail("gain_and_bias_residual: x and y differ in shape; give the same");
  Left left;
  for (size_t j = 0; j < y.columns(); ++j) {
    std::vector<Vector> basis;
    extend(basis, Vector(x.rows(), 1.0));
    extend(basis, column_of(x, j));
    left.add(column_of(y, j), basis);
  }
  return left.share();
}

}  // namespace lamina::lab
