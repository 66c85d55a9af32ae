#include "models/skip_thoughts/evaluation/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <vector>

#include "core/math/sum.h"

namespace lamina::skip_thoughts {

namespace {

using Vector = std::vector<real>;

double dot(std::span<const real> a, std::span<const real> b) {
  return static_cast<double>(
      sum_over(a.size(), [x = a.data(), y = b.data()](size_t i) { return x[i] * y[i]; }));
}

/// a += factor b
void add(std::span<real> a, double factor, std::span<const real> b) {
  const auto scale = static_cast<real>(factor);
  for (size_t i = 0; i < a.size(); ++i) a[i] += scale * b[i];
}

double largest(std::span<const real> a) {
  real most = 0;
  for (const real value : a) most = std::fabs(value) > most ? std::fabs(value) : most;
  return static_cast<double>(most);
}

/// s = w' - w and y = g' - g of one step, 1 / (s . y), and the multiple of the inverse Hessian known before that has this
/// step's curvature: s . y / (y . known y).
struct Curvature {
  Vector s, y;
  double inverse, scale;
};

/// v = known v, or v itself where nothing is known.
void multiply(const InverseHessian& known, Vector& v) {
  if (known) known(v);
}

/// -H g, with the inverse Hessian H that the remembered steps imply.
Vector direction(const Vector& gradient, const std::deque<Curvature>& steps, const InverseHessian& known) {
  Vector d(gradient.size());
  for (size_t i = 0; i < d.size(); ++i) d[i] = -gradient[i];
  std::vector<double> along(steps.size());
  for (size_t k = steps.size(); k-- > 0;) {
    along[k] = steps[k].inverse * dot(steps[k].s, d);
    add(d, -along[k], steps[k].y);
  }
  multiply(known, d);
  if (!steps.empty())
    for (real& value : d) value *= static_cast<real>(steps.back().scale);
  for (size_t k = 0; k < steps.size(); ++k)
    add(d, along[k] - steps[k].inverse * dot(steps[k].y, d), steps[k].s);
  return d;
}

}  // namespace

double minimize(const Objective& f, std::span<real> w, const LbfgsOptions& options) {
  constexpr double enough = 1e-4;  // of the decrease that the slope predicts (Armijo)
  constexpr int most_halvings = 30;
  std::deque<Curvature> steps;
  Vector gradient(w.size()), next(w.size()), next_gradient(w.size());
  double value = f(w, gradient);
  for (size_t step = 0; step < options.most_steps; ++step) {
    const Vector d = direction(gradient, steps, options.known);
    const double slope = dot(gradient, d);
    if (!(slope < 0)) break;  // the gradient is 0
    const bool scaled = options.known || !steps.empty();
    double length = scaled ? 1 : 1 / std::sqrt(dot(gradient, gradient)), next_value = value;
    bool found = false;
    for (int i = 0; i < most_halvings && !found; ++i, length /= 2) {
      next.assign(w.begin(), w.end());
      add(next, length, d);
      next_value = f(next, next_gradient);
      found = next_value <= value + enough * length * slope;
    }
    if (!found) break;  // converged to within the rounding of f
    Curvature curvature{next, next_gradient, 0, 0};
    add(curvature.s, -1, w);
    add(curvature.y, -1, gradient);
    const double product = dot(curvature.s, curvature.y);
    if (product > 0) {
      Vector known_y = curvature.y;
      multiply(options.known, known_y);
      curvature.inverse = 1 / product;
      curvature.scale = product / dot(curvature.y, known_y);
      steps.push_back(std::move(curvature));
      if (steps.size() > options.memory) steps.pop_front();
    }
    std::copy(next.begin(), next.end(), w.begin());
    gradient.swap(next_gradient);
    const double lower = value - next_value;
    value = next_value;
    if (largest(gradient) <= options.gradient && lower <= options.share * std::fabs(value)) break;
  }
  return value;
}

}  // namespace lamina::skip_thoughts
