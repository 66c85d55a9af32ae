// Fisher matrices: the paper's formulas against autodiff, and the KL metric against the KL divergence.

#include "models/analysis/fisher.h"

#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;
using namespace lamina::analysis;

namespace {

// The tolerance between two computations of a number: 1e-8 in double.
const double tolerance = sizeof(real) == 8 ? 1e-8 : 1e-3;

template <class Body>
void for_each_glm(const Body& body) {
  for (const Norm norm : glm_schemes)
    for (const Distribution distribution : distributions)
      for (const std::uint64_t seed : {1U, 2U}) {
        CAPTURE(std::string(lamina::name_of(norm)));
        CAPTURE(std::string(analysis::name_of(distribution)));
        Glm glm({.norm = norm, .distribution = distribution, .inputs = 4, .outputs = 3, .seed = seed});
        body(glm);
      }
}

}  // namespace

TEST_CASE("fisher: (12) and (13) are exact without normalization and under batch and weight norm") {
  for_each_glm([](Glm& glm) {
    const double difference = relative_difference(fisher_formula(glm), exact_fisher(glm));
    if (glm.options.norm == Norm::layer)
      CHECK(difference > 0.05);  // (13) ignores the other units' weights
    else
      CHECK(difference < tolerance);
  });
}

TEST_CASE("fisher: under layer norm (13) is exact for gains and biases, and wrong only where weights enter") {
  for (const Distribution distribution : distributions) {
    Glm glm({.norm = Norm::layer, .distribution = distribution, .outputs = 4});
    const Matrix exact = exact_fisher(glm), formula = fisher_formula(glm);
    const auto is_weight = [&](size_t k) { return k % glm.unit_size() < glm.options.inputs; };
    double rest = 0, scale = 0;
    for (size_t k = 0; k < exact.size; ++k)
      for (size_t l = 0; l < exact.size; ++l) {
        scale = std::max(scale, std::fabs(exact(k, l)));
        if (!is_weight(k) && !is_weight(l)) rest = std::max(rest, std::fabs(exact(k, l) - formula(k, l)));
      }
    CHECK(rest < tolerance * scale);
  }
}

TEST_CASE("fisher: a scale that the output does not see has no curvature") {
  for (const Norm norm : {Norm::batch, Norm::layer, Norm::weight}) {
    Glm glm({.norm = norm, .distribution = Distribution::bernoulli});
    const std::vector<double> along = weights_as_direction(glm);
    const Matrix exact = exact_fisher(glm);
    CHECK(product(along, exact, along) < tolerance * weight_curvature(glm, exact));
    const double formula = product(along, fisher_formula(glm), along);
    if (norm == Norm::layer)
      CHECK(formula > 0.01 * weight_curvature(glm, exact));
    else
      CHECK(formula < tolerance * weight_curvature(glm, exact));
    // A single weight vector: layer norm is not invariant to its scale.
    std::vector<double> single = along;
    std::fill(single.begin() + static_cast<std::ptrdiff_t>(glm.unit_size()), single.end(), 0);
    const double curvature = product(single, exact, single);
    if (norm == Norm::layer)
      CHECK(curvature > 0.01 * weight_curvature(glm, exact));
    else
      CHECK(curvature < tolerance * weight_curvature(glm, exact));
  }
}

TEST_CASE("fisher: (33) to (35) are exact, (32) where the covariance is the same for all cases") {
  for_each_glm([](Glm& glm) {
    const double difference =
        relative_difference(gain_metric_formula(glm), gain_metric(glm, exact_fisher(glm)));
    if (glm.options.norm == Norm::batch && glm.options.distribution != Distribution::gaussian)
      CHECK(difference > 1e-3);
    else
      CHECK(difference < tolerance);
  });
}

TEST_CASE("fisher: the KL divergence of a small move is half its length in the metric (8)") {
  for_each_glm([](Glm& glm) {
    const Matrix fisher = exact_fisher(glm);
    std::vector<double> step(glm.theta_size());
    for (size_t k = 0; k < step.size(); ++k) step[k] = 1e-2 * std::sin(static_cast<double>(k) + 1);
    Glm moved = glm;
    moved.move(step);
    CHECK(kl_divergence(glm, moved) ==
          doctest::Approx(product(step, fisher, step) / 2).epsilon(0.1).scale(0));
    CHECK(kl_divergence(glm, glm) == doctest::Approx(0).epsilon(1e-6));
  });
}

TEST_CASE("fisher: a one-weight Gaussian by hand") {
  // F = 1/phi E[[x^2, x], [x, 1]] with x = 1 and 3.
  Glm glm({.cases = 2, .inputs = 1, .outputs = 1, .variance = 0.25});
  glm.x = Tensor::from({2, 1}, {1, 3});
  const Matrix fisher = exact_fisher(glm);
  REQUIRE(fisher.size == 2);
  CHECK(fisher(0, 0) == doctest::Approx(4 * 5).epsilon(1e-5));
  CHECK(fisher(0, 1) == doctest::Approx(4 * 2).epsilon(1e-5));
  CHECK(fisher(1, 1) == doctest::Approx(4 * 1).epsilon(1e-5));
  CHECK(weight_curvature(glm, fisher) == fisher(0, 0));  // of the one weight, without the bias
  CHECK(gain_curvature(glm, fisher) == doctest::Approx(fisher(0, 0)));
}

TEST_CASE("fisher: outcomes have the model's mean and add up to one") {
  for (const Distribution distribution : distributions) {
    const Glm glm({.distribution = distribution});
    const Tensor z = Tensor::from({1, 3}, {real(0.3), real(-1), real(0.5)});
    double total = 0;
    std::vector<double> mean(3);
    for (const auto& [y, probability] : outcomes(glm, z)) {
      total += probability;
      for (size_t i = 0; i < 3; ++i) mean[i] += probability * y[i];
    }
    CHECK(total == doctest::Approx(1).epsilon(1e-6));
    const Tensor expected = distribution == Distribution::gaussian    ? z
                            : distribution == Distribution::bernoulli ? sigmoid(z)
                                                                      : softmax(z);
    for (size_t i = 0; i < 3; ++i)
      CHECK(mean[i] == doctest::Approx(static_cast<double>(expected[i])).epsilon(1e-5));
  }
}

TEST_CASE("fisher: bad sizes are refused") {
  CHECK_THROWS_WITH_AS(Glm({.inputs = 0}), "glm: a size of 0; all must be positive", Error);
  CHECK_THROWS_WITH_AS(Glm({.distribution = Distribution::bernoulli, .outputs = 9}),
                       "glm: 9 Bernoulli outputs; at most 8 are supported", Error);
}
