// Section 5.2 in numbers: the claims as slopes.

#include "models/analysis/geometry.h"

#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;
using namespace lamina::analysis;

TEST_CASE("geometry: slopes of powers") {
  CHECK(log_log_slope({1, 2, 4}, {5, 20, 80}) == doctest::Approx(2));
  CHECK(log_log_slope({1, 2, 4, 8}, {3, 3, 0, 3}) == doctest::Approx(0));  // a zero is skipped
}

TEST_CASE("geometry: the curvature along normalized weights falls with their length squared") {
  for (const Sweep& sweep : weight_sweeps(3)) {
    CAPTURE(std::string(lamina::name_of(sweep.glm.norm)));
    if (sweep.glm.norm != Norm::none)
      CHECK(sweep.slope() == doctest::Approx(-2).epsilon(1e-4));
    else if (sweep.glm.distribution == Distribution::gaussian)
      CHECK(std::fabs(sweep.slope()) < 1e-4);
  }
}

TEST_CASE("geometry: the metric along the gain sees the inputs' scale only without batch and layer norm") {
  for (const Sweep& sweep : input_sweeps(3)) {
    const bool normalizes_data = sweep.glm.norm == Norm::batch || sweep.glm.norm == Norm::layer;
    if (normalizes_data)
      CHECK(std::fabs(sweep.slope()) < 1e-4);
    else if (sweep.glm.distribution == Distribution::gaussian)
      CHECK(sweep.slope() == doctest::Approx(2).epsilon(1e-4));
    else
      CHECK(sweep.slope() > 0.5);
  }
}

TEST_CASE("geometry: KL divergence and metric differ in third order") {
  if (sizeof(real) == 4) return;  // differences of 1e-9 of a number
  for (const KlCurve& curve : kl_curves(3)) {
    CAPTURE(std::string(lamina::name_of(curve.glm.norm)));
    if (curve.glm.norm == Norm::none && curve.glm.distribution == Distribution::gaussian)
      CHECK(std::isnan(curve.slope()));  // the divergence is a quadratic form there
    else
      CHECK(curve.slope() == doctest::Approx(3).epsilon(0.1));
    CHECK(curve.kl.back() == doctest::Approx(curve.metric.back()).epsilon(0.01).scale(0));
  }
}

TEST_CASE("geometry: the table of formulas finds layer norm's cross terms and (32)'s approximation") {
  if (sizeof(real) == 4) return;
  for (const FormulaCheck& check : check_formulas(3)) {
    const bool layer = check.glm.norm == Norm::layer;
    for (const double block : {check.weights, check.weights_bias, check.weights_gain})
      if (!std::isnan(block)) CHECK((block > 1e-3) == layer);
    CHECK(check.rest < 1e-8);
    CHECK(std::isnan(check.weights_gain) == (check.glm.norm == Norm::none));
    const bool approximate =
        check.glm.norm == Norm::batch && check.glm.distribution != Distribution::gaussian;
    CHECK((check.gain_metric > 1e-3) == approximate);
  }
}

TEST_CASE("geometry: layer norm's cross terms lose weight with more units") {
  const auto all = cross_terms(3);
  REQUIRE(all.size() > 2);
  for (size_t i = 1; i < all.size(); ++i) CHECK(all[i].weights < all[i - 1].weights);
  for (const CrossTerms& terms : all) {
    // A direction that does not change the outputs has no curvature; according to (13) it has.
    CHECK(std::fabs(terms.scaling) < 1e-4);
    CHECK(std::fabs(terms.shifting) < 1e-4);
    CHECK(terms.scaling_13 > 0.01);
    CHECK(terms.shifting_13 > 0.01);
  }
}
