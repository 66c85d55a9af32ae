// Table 1, measured.

#include "models/analysis/invariance.h"

#include <map>

#include "models/analysis/normalized_layer.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;
using namespace lamina::analysis;

namespace {

const InvarianceOptions few_draws = {.draws = 3, .magnitudes = {0.1, 10}};

bool invariant(const std::vector<InvarianceResult>& results, Norm norm, Transformation transformation) {
  const double rounding = sizeof(real) == 8 ? invariance_threshold : 1e-3;
  return largest_change(results, norm, transformation, 0) < rounding;
}

}  // namespace

TEST_CASE("invariance: the measurement agrees with Table 1") {
  const auto results = measure_invariance(few_draws);
  for (const Norm norm : {Norm::batch, Norm::weight, Norm::layer})
    for (const Transformation t : transformations) {
      CAPTURE(std::string(lamina::name_of(norm)));
      CAPTURE(std::string(analysis::name_of(t)));
      REQUIRE(paper_says(norm, t).has_value());
      CHECK(invariant(results, norm, t) == *paper_says(norm, t));
    }
  if (sizeof(real) == 8) CHECK(disagreements(results).empty());
}

TEST_CASE("invariance: every row, ours too") {
  const auto results = measure_invariance(few_draws);
  const auto row = [&](Norm norm) {
    std::string letters;
    for (const Transformation t : transformations) letters += invariant(results, norm, t) ? 'y' : 'n';
    return letters;
  };
  const std::string batch = "ynyyyn", weight = "ynynnn", layer = "yynyny";
  const std::map<Norm, std::string> known{
      {Norm::batch, batch},         {Norm::weight, weight},   {Norm::layer, layer},
      {Norm::none, "nnnnnn"},       {Norm::rms, "ynnyny"},    {Norm::layer_simple, layer},
      {Norm::detached, layer},      {Norm::ada, layer},       {Norm::dyt, "nnnnnn"},
      {Norm::ghost, batch},         {Norm::renorm, "nnnnnn"},  // running averages did not follow
      {Norm::standardized, weight}, {Norm::group, layer},      // of parts of the units
      {Norm::instance, "ynyyyy"}};                             // over positions instead of cases
  for (const Norm norm : table_schemes()) {
    CAPTURE(std::string(lamina::name_of(norm)));
    REQUIRE(known.contains(norm));
    CHECK(row(norm) == known.at(norm));
  }
}

TEST_CASE("invariance: the default epsilon breaks what divides by sigma, and nothing else") {
  const auto results = measure_invariance(few_draws);
  const double rounding = sizeof(real) == 8 ? invariance_threshold : 1e-3;
  const auto change = [&](Norm norm, Transformation t) {
    return largest_change(results, norm, t, default_epsilon());
  };
  CHECK(change(Norm::layer, Transformation::matrix_rescaling) > 1e-4);
  CHECK(change(Norm::batch, Transformation::data_rescaling) > 1e-4);
  CHECK(change(Norm::layer, Transformation::matrix_recentering) < rounding);
  CHECK(change(Norm::batch, Transformation::data_recentering) < rounding);
  CHECK(change(Norm::weight, Transformation::matrix_rescaling) < rounding);
}

TEST_CASE("invariance: a verdict is the measurement's, and one that differs from the paper's is marked") {
  std::vector<InvarianceResult> results = {
      {Norm::layer, Transformation::vector_rescaling, 2, 0, 1e-12},  // the paper: no
      {Norm::layer, Transformation::case_rescaling, 2, 0, 0.3},      // the paper: yes
      {Norm::rms, Transformation::case_rescaling, 2, 0, 0.3}};       // not in the paper
  for (const Norm norm : table_schemes())
    for (const Transformation t : transformations)
      if (paper_says(norm, t) == false && !(norm == Norm::layer && t == Transformation::vector_rescaling))
        results.push_back({norm, t, 2, 0, 1});
  const std::string lines = disagreements(results), table = invariance_table(results, 0);
  CHECK(contains(lines, "layer norm, weight vector re-scaling: the paper says no"));
  CHECK(contains(lines, "layer norm, single case re-scaling: the paper says yes"));
  CHECK(std::ranges::count(lines, '\n') == 2);
  CHECK(contains(table, "yes (1e-12) **not as in the paper**"));
  CHECK(contains(table, "no (3e-01) **not as in the paper**"));
}

TEST_CASE("invariance: a NaN is never an invariance") {
  const std::vector<InvarianceResult> results = {
      {Norm::none, Transformation::matrix_rescaling, 2, 0, 0},
      {Norm::none, Transformation::matrix_rescaling, 10, 0, std::nan("")},
      {Norm::none, Transformation::matrix_rescaling, 100, 0, 0}};
  CHECK(std::isnan(largest_change(results, Norm::none, Transformation::matrix_rescaling, 0)));
}

TEST_CASE("invariance: what the layers of the table are") {
  const LayerValues layer = {sample({3, 8}, 1), sample({8}, 2, 0.5, 1.5), sample({8}, 3)};
  const Tensor x = sample({5, 3}, 4);
  // Weight norm whose gains are the norms of the weight vectors equals no normalization.
  LayerValues plain = layer;
  plain.gain = sqrt(sum_rows(square(layer.weight)));
  CHECK(difference(normalized_layer(Norm::weight, x, plain, 0).values(),
                   normalized_layer(Norm::none, x, plain, 0).values()) < 64 * ulp);
  // RMS norm of numbers with mean 0 is layer norm without the bias.
  const Tensor centered = layer.weight - mean_columns(layer.weight);
  CHECK(difference(
            (normalized_layer(Norm::rms, x, {centered, layer.gain, layer.bias}, 0) + layer.bias).values(),
            normalized_layer(Norm::layer, x, {centered, layer.gain, layer.bias}, 0).values()) < 256 * ulp);
  for (const Norm norm : {Norm::ghost, Norm::renorm, Norm::dyt})
    CHECK_ERROR(normalized_layer(norm, sample({4, 3}, 4), {layer.weight, sample({2}, 2), layer.bias}, 0),
                "normalized_layer: norm.gain is [2]; [8] is needed");
  // Instance norm of one image is batch norm of its positions.
  const Tensor image = x.reshape({1, 5, 1, 3});
  CHECK(difference(normalized_layer(Norm::instance, image, layer, 0).values(),
                   normalized_layer(Norm::batch, x, layer, 0).values()) < 256 * ulp);
  CHECK_THROWS_AS(normalized_layer(Norm::layer_interior, x, layer, 0), Error);
}

TEST_CASE("invariance: the change of a layer of one's own is known where it is linear") {
  const auto product = [](const Tensor& x, const LayerValues& layer) { return matmul(x, layer.weight); };
  for (const double factor : {0.5, 3.0})
    for (const Transformation t : {Transformation::matrix_rescaling, Transformation::data_rescaling})
      CHECK(change_under(product, t, factor, few_draws) ==
            doctest::Approx(std::abs(factor - 1)).epsilon(1e-5));
  const auto constant = [](const Tensor& x, const LayerValues&) { return Tensor::ones(x.shape()); };
  CHECK(change_under(constant, Transformation::data_recentering, 10, few_draws) == 0);
}
