#include "models/lab/optimization/smoothness.h"

#include "tests/check.h"

using namespace lamina;
using namespace lamina::lab;
using namespace lamina::test;

TEST_CASE("smoothness: along the gradient of a quadratic function everything is known") {
  // L = 1/2 (2 u^2 + 6 v^2) at (3, 1): g = (6, 6), Hg = (12, 36), so norm2(Hg) / norm2(g) = sqrt(1440 / 72).
  Parameters parameters(1);
  const Tensor w = parameters.add("w", Tensor::from({2}, {3, 1}));
  const Tensor curvature = Tensor::from({2}, {2, 6});
  const auto loss = [&] { return sum(curvature * square(w)) * real(0.5); };
  const std::vector<double> rates{0.125, 0.25, 0.5};
  const std::vector<GradientStep> steps = steps_along_gradient(parameters, loss, rates);
  REQUIRE(steps.size() == 3);
  for (size_t i = 0; i < steps.size(); ++i) {
    const double r = rates[i], u = 3 - 6 * r, v = 1 - 6 * r;
    CHECK(steps[i].rate == r);
    CHECK(steps[i].loss == doctest::Approx(u * u + 3 * v * v));
    CHECK(steps[i].smoothness == doctest::Approx(std::sqrt(20.0)));
    CHECK(steps[i].gradient_change == doctest::Approx(r * std::sqrt(20.0)));
  }
  const Smoothness all = smoothness_of(steps);
  CHECK(all.beta == doctest::Approx(std::sqrt(20.0)));
  CHECK(all.gradient_change == doctest::Approx(0.5 * std::sqrt(20.0)));
  CHECK(all.loss_range == doctest::Approx(12 - 3));  // 5.25, 3 and 12 at the three rates
}

TEST_CASE("smoothness: looking changes neither the parameters nor their gradients") {
  Parameters parameters(1);
  const Tensor w = parameters.add("w", sample({5}, 1));
  const Tensor before = w.copy();
  steps_along_gradient(parameters, [&] { return sum(square(square(w))); }, {0.1, 1});
  CHECK(identical(w, before));
  CHECK(!parameters.any_gradient());
}

TEST_CASE("smoothness: a function of constant slope is perfectly smooth, and one without slope is refused") {
  Parameters parameters(1);
  const Tensor w = parameters.add("w", Tensor::from({2}, {1, 2}));
  const Smoothness line =
      smoothness_of(steps_along_gradient(parameters, [&] { return sum(w) * real(2); }, {0.5, 1}));
  CHECK(line.beta == 0);
  CHECK(line.gradient_change == 0);
  CHECK(line.loss_range == doctest::Approx(4));  // a gradient of (2, 2): 8 a rate of 1
  CHECK_ERROR(steps_along_gradient(parameters, [&] { return sum(w * real(0)); }, {1}),
              "steps_along_gradient: the gradient is zero; there is no direction to go");
}
