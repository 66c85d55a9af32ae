#include "models/skip_thoughts/evaluation/regression.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace lamina::skip_thoughts {

namespace {

/// Computes s, then P in place.
void probabilities_of(const Features& x, size_t row, std::span<const real> weights, std::span<double> p) {
  const size_t width = x.columns() + 1;
  p[0] = 0;
  for (size_t k = 1; k < p.size(); ++k) {
    const real* const w = weights.data() + (k - 1) * width;
    p[k] = static_cast<double>(x.dot(row, w) + w[width - 1]);
  }
  const double most = *std::ranges::max_element(p);
  double total = 0;
  for (double& s : p) total += s = std::exp(s - most);
  for (double& s : p) s /= total;
}

/// The loss of the rows, and its gradient: ds_k = (P_k - p_k) / cases.
double loss_of(const Features& x, const Labels& labels, std::span<const int> rows, double C,
               std::span<const real> weights, std::span<real> gradient) {
  const size_t width = x.columns() + 1, classes = labels.classes;
  const double cases = static_cast<double>(rows.size());
  std::ranges::fill(gradient, real{0});
  std::vector<double> p(classes);
  double loss = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<size_t>(rows[i]);
    if (i + 1 < rows.size()) x.expect(static_cast<size_t>(rows[i + 1]));
    probabilities_of(x, row, weights, p);
    const real* const own = labels.shares.data() + row * classes;
    constexpr double least = 1e-300;  // keeps the loss finite where P underflows
    for (size_t k = 0; k < classes; ++k)
      if (own[k] > 0) loss -= static_cast<double>(own[k]) * std::log(std::max(p[k], least));
    for (size_t k = 1; k < classes; ++k) {
      const auto ds = static_cast<real>((p[k] - static_cast<double>(own[k])) / cases);
      real* const dw = gradient.data() + (k - 1) * width;
      x.add(row, ds, dw);
      dw[width - 1] += ds;
    }
  }
  loss /= cases;
  const double strength = 1 / (C * cases);
  for (size_t i = 0; i < weights.size(); ++i) {
    if (i % width == width - 1) continue;
    const auto w = static_cast<double>(weights[i]);
    loss += w * w * strength / 2;
    gradient[i] += static_cast<real>(w * strength);
  }
  return loss;
}

}  // namespace

Labels hard_labels(std::span<const int> classes_of_cases, size_t classes) {
  Labels labels{.classes = classes, .shares = std::vector<real>(classes_of_cases.size() * classes)};
  for (size_t i = 0; i < classes_of_cases.size(); ++i)
    labels.shares[i * classes + static_cast<size_t>(classes_of_cases[i])] = 1;
  return labels;
}

std::vector<double> Regression::probabilities(const Features& x, size_t row) const {
  std::vector<double> p(classes);
  probabilities_of(x, row, weights, p);
  return p;
}

size_t Regression::predict(const Features& x, size_t row) const {
  const std::vector<double> p = probabilities(x, row);
  return static_cast<size_t>(std::ranges::max_element(p) - p.begin());
}

Regression fit(const Features& x, const Labels& labels, std::span<const int> rows, double C,
               const Regression& start, const InverseHessian& known) {
  if (!(C > 0) || rows.empty() || labels.shares.size() != x.rows() * labels.classes)
    fail("regression: C is ", C, ", ", rows.size(), " cases of ", x.rows(), " rows with ",
         labels.shares.size(), " labels; C and the cases must be positive, and each row labelled");
  Regression result{.classes = labels.classes, .weights = start.weights};
  result.weights.resize((labels.classes - 1) * (x.columns() + 1));
  std::vector<int> rising(rows.begin(), rows.end());  // memory is read faster in its own order
  std::ranges::sort(rising);
  minimize([&](std::span<const real> w,
               std::span<real> gradient) { return loss_of(x, labels, rising, C, w, gradient); },
           result.weights, {.known = known});
  return result;
}

}  // namespace lamina::skip_thoughts
