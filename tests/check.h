#pragma once
// What the tests share: reproducible numbers, comparisons, and the check of gradients.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "core/debug/gradient_check.h"
#include "core/math/random.h"
#include "core/ops.h"
#include "core/tape.h"

namespace lamina::test {

/// The distance from 1 to the next number.
inline constexpr double ulp = static_cast<double>(std::numeric_limits<real>::epsilon());

/// Shapes that cover every remainder of the vector loops.
inline const std::vector<Shape> odd_shapes = {{1, 1}, {1, 3}, {3, 1}, {3, 5}, {7, 17}, {2, 33}};

/// Uniform in [low, high); the same numbers for the same seed.
inline Tensor sample(const Shape& shape, std::uint64_t seed, double low = -1, double high = 1) {
  Tensor x(shape);
  Random(seed).fill_uniform(x.data(), x.size(), static_cast<real>(low), static_cast<real>(high));
  return x;
}

/// A leaf that requires its gradient.
inline Tensor leaf(const Shape& shape, std::uint64_t seed, double low = -1, double high = 1) {
  return sample(shape, seed, low, high).require_gradient();
}

/// sum_i w_i y_i with fixed weights: a loss that sends a different derivative to every element of y.
inline Tensor weighted(const Tensor& y) { return sum(y * sample(y.shape(), 4711, 0.5, 1.5)); }

/// Largest |a - b| relative to the largest |b|, or to 1 when that is smaller.
inline double difference(std::span<const real> a, std::span<const real> b) {
  REQUIRE(a.size() == b.size());
  double worst = 0, scale = 1;
  for (const real v : b) scale = std::max(scale, std::fabs(static_cast<double>(v)));
  for (size_t i = 0; i < a.size(); ++i) {
    const double error = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    worst = std::isnan(worst) || worst > error ? worst : error;  // keeps NaN
  }
  return worst / scale;
}
inline double difference(const Tensor& a, const Tensor& b) {
  CHECK(a.shape() == b.shape());
  return difference(a.values(), b.values());
}
inline double difference(const Tensor& a, std::initializer_list<double> b) {
  std::vector<real> expected;
  for (const double v : b) expected.push_back(static_cast<real>(v));
  return difference(a.values(), expected);
}

inline bool identical(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::ranges::equal(a.values(), b.values());
}

/// In the float build, where the difference of one element drowns in rounding: along a direction of +-1 for each element
/// of an input the tape's gradient g and differences agree to 2% of |g|, and to what two steps of them tell of their error.
inline void check_along_signs(Tensor input, const std::function<Tensor()>& loss, double h) {
  const Tensor kept = input.copy(), signs = sample(input.shape(), 4712), g = input.gradient();
  double along = 0, length = 0;
  for (size_t i = 0; i < g.size(); ++i) {
    along += static_cast<double>(signs[i] < 0 ? -g[i] : g[i]);
    length += static_cast<double>(g[i]) * static_cast<double>(g[i]);
  }
  const auto at = [&](double step) {
    for (size_t i = 0; i < g.size(); ++i) input[i] = kept[i] + static_cast<real>(signs[i] < 0 ? -step : step);
    return static_cast<double>(loss().item());
  };
  const double near = (at(h) - at(-h)) / (2 * h), far = (at(2 * h) - at(-2 * h)) / (4 * h);
  std::ranges::copy(kept.values(), input.data());
  const double rounding = 8 * ulp * std::fabs(static_cast<double>(loss().item())) / h;
  const double allowed = 0.02 * std::sqrt(length) + 2 * std::fabs(near - far) + rounding;
  CHECK_MESSAGE((std::isfinite(along) && std::fabs(along - near) <= allowed), input.shape(), ": tape ", along,
                ", differences ", near);
}

/// In the double build: the tape's gradient agrees with differences to 1e-6, for every element of every
/// input. In the float build, where differences are inaccurate: along one direction of every input.
inline void check_gradients(const std::vector<Tensor>& inputs, const std::function<Tensor()>& loss,
                            double h = 1e-3) {
#ifdef LAMINA_DOUBLE
  const GradientCheck result = check_gradient(inputs, loss, h);
  CHECK_MESSAGE(result.worst_error < 1e-6, result.worst_error, " at ", result.where);
#else
  for (Tensor input : inputs) input.require_gradient().clear_gradient();
  {
    Tape tape;
    tape.backward(loss());
  }
  for (const Tensor& input : inputs) check_along_signs(input, loss, h);
#endif
}

/// The text of the Error that `action` throws, or "" when it throws none.
template <class Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace lamina::test

/// Runs `statement` and compares the text of its Error.
#define CHECK_ERROR(statement, expected) \
  CHECK_EQ(lamina::test::error_of([&] { (void)(statement); }), expected)
