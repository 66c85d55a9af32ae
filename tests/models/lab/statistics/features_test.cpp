// The measuring of the lab on inputs of unlike kinds, where the answer is known.

#include "models/lab/statistics/features.h"

#include <cmath>

#include "core/ops.h"
#include "models/evidence/interval.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::lab;
using namespace lamina::test;

namespace {

/// Pairs of cases x and 2 x + 30, which layer norm makes the same, with targets -1 and 1.
People same_under_layer_norm(size_t pairs) {
  People cases{Tensor({2 * pairs, 3}), Tensor({2 * pairs, 1})};
  const Tensor x = sample({pairs, 3}, 1, 10, 20);
  for (size_t i = 0; i < pairs; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      cases.x[6 * i + j] = x[3 * i + j];
      cases.x[6 * i + 3 + j] = 2 * x[3 * i + j] + 30;
    }
    cases.y[2 * i] = -1;
    cases.y[2 * i + 1] = 1;
  }
  return cases;
}

Moments moments_of_column(const Tensor& x, size_t column) {
  std::vector<double> values;
  for (size_t i = column; i < x.size(); i += x.columns()) values.push_back(static_cast<double>(x[i]));
  return moments_of(values);
}

}  // namespace

TEST_CASE("features: what is unexplained of a target") {
  const Tensor y = Tensor::from({4, 1}, {-1, 1, 3, 5});
  CHECK(unexplained(y, y) == 0);
  CHECK(unexplained(Tensor::full({4, 1}, 2), y) == doctest::Approx(1));
  CHECK(unexplained(y + 1, y) == doctest::Approx(4.0 / 20));
}

TEST_CASE("features: layer norm of the input cannot tell apart what batch norm can") {
  const People cases = same_under_layer_norm(100);
  const FeatureRun run{.epochs = 40, .learning_rate = 0.01, .seed = 1};
  const auto error = [&](const FeatureScheme& scheme) {
    return train_on_features(scheme, NormPlace::input, cases, cases, cases, run).test;
  };
  // Both of a pair get the same p, and the mean of (p - 1)^2 and (p + 1)^2 is 1 + p^2.
  CHECK(error({.norm = Norm::layer}) > 0.999);
  CHECK(error({.norm = Norm::layer, .then_batch = true}) > 0.99);
  CHECK(error({.norm = Norm::batch}) < 0.1);
}

TEST_CASE("features: people, and the same people at one scale") {
  Random random(1);
  const People people = draw_people(4000, 2, random);
  REQUIRE(people.x.shape() == Shape{4000, 6});
  const Tensor same = alike(people.x);
  for (const size_t person : {0U, 1U}) {
    CHECK(moments_of_column(people.x, 3 * person).mean == doctest::Approx(50).epsilon(0.02));
    CHECK(moments_of_column(people.x, 3 * person + 1).mean == doctest::Approx(0.5).epsilon(0.1).scale(0));
    CHECK(moments_of_column(people.x, 3 * person + 2).mean == doctest::Approx(171.5).epsilon(0.01));
    for (const size_t feature : {0U, 1U, 2U}) {
      CHECK(std::abs(moments_of_column(same, 3 * person + feature).mean) < 0.1);
      CHECK(moments_of_column(same, 3 * person + feature).deviation == doctest::Approx(1).epsilon(0.05));
    }
  }
  // Variances 1, 1 and that of (a^2 - 1) / 2 for uniform a, 1 / 5; and of the noise.
  CHECK(moments_of_column(people.y, 0).deviation == doctest::Approx(std::sqrt(2.21)).epsilon(0.05));
  // Of one person: the height of its gender, what age means for it, and noise.
  const People one = draw_people(2000, 1, random);
  double squares = 0;
  for (size_t i = 0; i < 2000; ++i) {
    const auto of = [&](size_t feature) { return static_cast<double>(one.x[3 * i + feature]); };
    const double age = (of(0) - 50) / (60 / std::sqrt(12)), gender = 2 * of(1) - 1;
    const double expected = (of(2) - (of(1) > 0 ? 178 : 165)) / 7 + gender * age + (age * age - 1) / 2;
    squares += std::pow(static_cast<double>(one.y[i]) - expected, 2) / 2000;
  }
  CHECK(std::sqrt(squares) == doctest::Approx(0.1).epsilon(0.1).scale(0));
}
