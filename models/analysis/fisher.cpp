#include "models/analysis/fisher.h"

#include <algorithm>
#include <cmath>

#include "core/ops.h"
#include "core/tape.h"
#include "models/analysis/larger.h"

namespace lamina::analysis {

double product(const std::vector<double>& u, const Matrix& m, const std::vector<double>& v) {
  double total = 0;
  for (size_t i = 0; i < m.size; ++i)
    for (size_t j = 0; j < m.size; ++j) total += u[i] * m(i, j) * v[j];
  return total;
}

double relative_difference(const Matrix& a, const Matrix& b) {
  if (a.size != b.size) fail("relative_difference: matrices of ", a.size, " and ", b.size, " rows");
  double largest = 0, scale = 0;
  for (size_t k = 0; k < a.values.size(); ++k) {
    largest = larger(largest, std::fabs(a.values[k] - b.values[k]));
    scale = std::max(scale, std::fabs(b.values[k]));
  }
  return largest / scale;
}

Matrix exact_fisher(Glm& glm) {
  LayerValues& layer = glm.layer;
  Matrix fisher(glm.theta_size());
  const Tensor values = glm.natural_parameters();
  for (Tensor* const leaf : {&layer.weight, &layer.gain, &layer.bias}) leaf->require_gradient();
  for (size_t n = 0; n < glm.options.cases; ++n)
    for (const auto& [y, probability] : outcomes(glm, values.slice(n, n + 1))) {
      for (Tensor* const leaf : {&layer.weight, &layer.gain, &layer.bias}) leaf->clear_gradient();
      Tape tape;
      const Tensor z = glm.natural_parameters();
      tape.backward(log_likelihood(glm, z.slice(n, n + 1), y));
      const std::vector<double> score = glm.gradient();
      const double share = probability / static_cast<double>(glm.options.cases);
      for (size_t i = 0; i < fisher.size; ++i)
        for (size_t j = 0; j < fisher.size; ++j) fisher(i, j) += share * score[i] * score[j];
    }
  return fisher;
}

Matrix gain_metric(const Glm& glm, const Matrix& fisher) {
  const size_t outputs = glm.options.outputs, inputs = glm.options.inputs, unit = glm.unit_size();
  // The unit move along unit i's gain, as a direction of theta.
  std::vector<std::vector<double>> moves(outputs, std::vector<double>(fisher.size));
  const std::vector<double> theta = glm.theta();
  for (size_t i = 0; i < outputs; ++i) {
    if (glm.has_gain()) {
      moves[i][i * unit + glm.gain_place()] = 1;
      continue;
    }
    double norm = 0;
    for (size_t d = 0; d < inputs; ++d) norm = std::hypot(norm, theta[i * unit + d]);
    for (size_t d = 0; d < inputs; ++d) moves[i][i * unit + d] = theta[i * unit + d] / norm;
  }
  Matrix metric(outputs);
  for (size_t i = 0; i < outputs; ++i)
    for (size_t j = 0; j < outputs; ++j) metric(i, j) = product(moves[i], fisher, moves[j]);
  return metric;
}

double weight_curvature(const Glm& glm, const Matrix& fisher) {
  double total = 0;
  for (size_t k = 0; k < fisher.size; ++k)
    if (k % glm.unit_size() < glm.options.inputs) total += fisher(k, k);
  return total / static_cast<double>(glm.options.outputs * glm.options.inputs);
}

double gain_curvature(const Glm& glm, const Matrix& fisher) {
  const Matrix metric = gain_metric(glm, fisher);
  double total = 0;
  for (size_t i = 0; i < metric.size; ++i) total += metric(i, i);
  return total / static_cast<double>(metric.size);
}

std::vector<double> weights_as_direction(const Glm& glm) {
  std::vector<double> direction = glm.theta();
  for (size_t k = 0; k < direction.size(); ++k)
    if (k % glm.unit_size() >= glm.options.inputs) direction[k] = 0;
  return direction;
}

}  // namespace lamina::analysis
