// The measuring of the lab on normalized inputs, where the answer is known.

#include "models/lab/structure/input_norm.h"

#include "core/ops.h"
#include "models/analysis/invariance.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::lab;
using namespace lamina::test;
using namespace lamina::analysis;

TEST_CASE("a layer with a normalized input: known values") {
  const Tensor x = Tensor::from({2, 2}, {1, 3, 5, 9});
  const LayerValues layer{Tensor::from({2, 1}, {2, 10}), Tensor::ones({1}), Tensor::from({1}, {0.5})};
  // Layer norm makes both rows (-1, 1), batch norm the rows (-1, -1) and (1, 1).
  const Tensor by_layer = normalized_input_layer(Norm::layer, x, layer, 0),
               by_batch = normalized_input_layer(Norm::batch, x, layer, 0);
  CHECK(by_layer[0] == doctest::Approx(8.5));
  CHECK(by_layer[1] == doctest::Approx(8.5));
  CHECK(by_batch[0] == doctest::Approx(-11.5));
  CHECK(by_batch[1] == doctest::Approx(12.5));
  CHECK_THROWS_AS(normalized_input_layer(Norm::weight, x, layer, 0), Error);
}

TEST_CASE("a layer with a normalized input: its row of Table 1") {
  const InvarianceOptions options{.draws = 3};
  const auto row = [&](Norm norm) {
    const auto layer = [&](const Tensor& x, const LayerValues& values) {
      return normalized_input_layer(norm, x, values, 0);
    };
    std::string letters;
    for (const Transformation t : transformations) {
      double change = 0;
      for (const double magnitude : {0.1, 10.0})
        change = std::max(change, change_under(layer, t, magnitude, options));
      letters += change < (sizeof(real) == 8 ? invariance_threshold : 1e-3) ? 'y' : 'n';
    }
    return letters;
  };
  CHECK(row(Norm::layer) == "nnnyny");
  CHECK(row(Norm::batch) == "nnnyyn");
}

TEST_CASE("a layer with a normalized input scales with its weights") {
  const auto without_bias = [](const Tensor& x, const LayerValues& layer) {
    return normalized_input_layer(Norm::layer, x, {layer.weight, layer.gain, Tensor()}, 0);
  };
  CHECK(change_under(without_bias, Transformation::matrix_rescaling, 3, {.draws = 3}) ==
        doctest::Approx(2).epsilon(1e-5));
}
