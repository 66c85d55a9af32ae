#pragma once
// Where the weights of a model start: measured on the model as it is made, not read from its source.

#include <algorithm>
#include <cmath>
#include <string>

#include "core/parameters.h"
#include "tests/check.h"

namespace lamina::test {

/// The parameter of this name. Fails the test when the model has none.
inline Tensor parameter(const Parameters& parameters, const std::string& name) {
  for (const auto& [own, value] : parameters.learned())
    if (own == name) return value;
  FAIL("no parameter " << name);
  return {};
}

struct Spread {
  double mean = 0, deviation = 0, least = 0, most = 0;
};

inline Spread spread_of(const Tensor& values) {
  Spread spread{.least = static_cast<double>(values[0]), .most = spread.least};
  const auto count = static_cast<double>(values.size());
  for (const real value : values.values()) {
    const auto x = static_cast<double>(value);
    spread.mean += x / count;
    spread.least = std::min(spread.least, x);
    spread.most = std::max(spread.most, x);
  }
  for (const real value : values.values()) {
    const double off = static_cast<double>(value) - spread.mean;
    spread.deviation += off * off / count;
  }
  spread.deviation = std::sqrt(spread.deviation);
  return spread;
}

/// U(-bound, bound): mean and deviation within five of their own deviations, and the whole range in use. It
/// takes some thousand values to tell it from other distributions of the same deviation.
inline void check_uniform(const Tensor& values, double bound) {
  const auto [mean, deviation, least, most] = spread_of(values);
  const auto count = static_cast<double>(values.size());
  const double expected = bound / std::sqrt(3.0);
  CHECK(std::fabs(mean) < 5 * expected / std::sqrt(count));
  CHECK(std::fabs(deviation / expected - 1) < 5 * std::sqrt(0.2 / count));  // (kurtosis - 1) / 4 = 0.2
  CHECK(least >= -bound * (1 + ulp));
  CHECK(most <= bound * (1 + ulp));
  CHECK(least < -bound * (1 - 20 / count));
  CHECK(most > bound * (1 - 20 / count));
}

/// Each gate's [H x H] of a hidden weight [H x gates H] is orthogonal.
inline void check_orthogonal_gates(const Tensor& weight, size_t gates) {
  const size_t width = weight.rows();
  REQUIRE(weight.columns() == gates * width);
  double worst = 0;
  for (size_t gate = 0; gate < gates; ++gate)
    for (size_t i = 0; i < width; ++i)
      for (size_t j = 0; j <= i; ++j) {
        double product = 0;
        for (size_t k = 0; k < width; ++k)
          product += static_cast<double>(weight[i * gates * width + gate * width + k]) *
                     static_cast<double>(weight[j * gates * width + gate * width + k]);
        worst = std::max(worst, std::fabs(product - (i == j ? 1 : 0)));
      }
  CHECK(worst < 64 * ulp);
}

inline void check_constant(const Tensor& values, double value) {
  const Spread spread = spread_of(values);
  CHECK(spread.least == value);
  CHECK(spread.most == value);
}

}  // namespace lamina::test
