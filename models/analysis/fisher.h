#pragma once
// Fisher information matrices, computed in two ways that share no code: exactly, by autodiff, and by the
// paper's formulas.
//
//   F(theta) = E_x E_y[ score score^T ],  score = d log P(y | x; theta) / d theta                    (Eq. 9)
//   ds^2 = KL(P(y | x; theta) || P(y | x; theta + delta)) ~ 1/2 delta^T F(theta) delta               (Eq. 8)

#include <vector>

#include "models/analysis/glm.h"

namespace lamina::analysis {

/// A square matrix, row by row.
struct Matrix {
  explicit Matrix(size_t n) : size(n), values(n * n) {}
  double& operator()(size_t i, size_t j) { return values[i * size + j]; }
  double operator()(size_t i, size_t j) const { return values[i * size + j]; }
  size_t size;
  std::vector<double> values;
};

/// u^T M v
double product(const std::vector<double>& u, const Matrix& m, const std::vector<double>& v);

/// Largest |a - b| over all entries, relative to the largest |b|.
double relative_difference(const Matrix& a, const Matrix& b);

/// Eq. 9 by the tape: one backward pass of log P(y | x) for every case and every outcome y, through the
/// statistics too. Batch norm's statistics are those of all cases.
Matrix exact_fisher(Glm& glm);

/// Eq. 12 without normalization, Eq. 13 and 14 with one. Under layer norm the latter is not the Fisher
/// matrix: it ignores that each output depends on the other units' weights through mu and sigma, which the
/// units share.
Matrix fisher_formula(const Glm& glm);

/// The metric M of moves d along the gains, ds^2 = 1/2 d^T M d, read from a Fisher matrix. Without
/// normalization a move d_i along w_i / norm2(w_i) takes the gain's place, as in Eq. 35.
Matrix gain_metric(const Glm& glm, const Matrix& fisher);

/// The same by Eq. 32 (batch norm), 33 (layer norm), 34 (weight norm) and 35 (none).
Matrix gain_metric_formula(const Glm& glm);

/// Mean of the diagonal over all weights: the mean curvature of a move of length 1 in a random direction.
double weight_curvature(const Glm& glm, const Matrix& fisher);

/// Mean of the diagonal of the metric along the gains.
double gain_curvature(const Glm& glm, const Matrix& fisher);

/// theta with everything but the weights set to zero: the direction that re-scales the weight matrix.
std::vector<double> weights_as_direction(const Glm& glm);

}  // namespace lamina::analysis
