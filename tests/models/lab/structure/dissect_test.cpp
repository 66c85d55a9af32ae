// The measuring of the lab on layer norm's backward pass, where the answer is known.

#include "models/lab/structure/dissect.h"

#include <algorithm>

#include "core/files/file.h"
#include "layers/norms/variants/parameter_free_norm.h"
#include "models/lab/rows.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::lab;
using namespace lamina::test;

namespace {

/// da of the dissected norm for a given dy.
Tensor passed_back(const Tensor& a, const Tensor& dy, Constant constant) {
  Tensor input = a.copy();
  input.require_gradient();
  Tape tape;
  tape.backward(dissected_norm(input, constant), dy);
  return input.gradient().copy();
}

}  // namespace

TEST_CASE("dissect: the forward pass is that of layer norm, whatever is constant") {
  const Tensor a = sample({7, 9}, 1, -3, 5);
  for (const Constant constant : {Constant{}, Constant{.mean = true}, Constant{.deviation = true},
                                  Constant{.mean = true, .deviation = true}})
    CHECK(difference(dissected_norm(a, constant), layer_norm_simple(a)) < 20 * ulp);
}

TEST_CASE("dissect: each part of the backward pass is its formula") {
  const Tensor a = sample({7, 9}, 1, -3, 5), dy = sample({7, 9}, 2);
  const Tensor y = layer_norm_simple(a), mean = mean_columns(a);
  const Tensor sigma = sqrt(mean_columns(square(a - mean)) + real(1e-5));
  const Tensor of_mean = mean_columns(dy), of_deviation = y * mean_columns(dy * y);
  CHECK(difference(passed_back(a, dy, {}), (dy - of_mean - of_deviation) / sigma) < 100 * ulp);
  CHECK(difference(passed_back(a, dy, {.mean = true}), (dy - of_deviation) / sigma) < 100 * ulp);
  CHECK(difference(passed_back(a, dy, {.deviation = true}), (dy - of_mean) / sigma) < 100 * ulp);
  CHECK(difference(passed_back(a, dy, {.mean = true, .deviation = true}), dy / sigma) < 100 * ulp);
}

TEST_CASE("dissect: curvature along re-scaling and re-centering vanishes where its derivative is there") {
  const Tensor x = sample({10, 4}, 1), weight = sample({4, 6}, 2);
  const Curvature none = curvature_of(x, weight, {}), mean = curvature_of(x, weight, {.mean = true}),
                  deviation = curvature_of(x, weight, {.deviation = true});
  CHECK(none.any > 0);
  CHECK(none.scaling < 1e-5 * none.any);
  CHECK(none.shifting < 1e-9 * none.any);
  CHECK(mean.shifting > 0.1 * mean.any);
  CHECK(deviation.shifting < 1e-9 * deviation.any);
  CHECK(deviation.scaling > 0.1 * deviation.any);
}

TEST_CASE("dissect: without derivatives of both the Fisher matrix is that of a linear layer over sigma^2") {
  // One case x and two units: sigma is half the distance of the summed inputs, J = x / sigma for each unit.
  const Tensor x = Tensor::from({1, 2}, {3, 4}), weight = Tensor::from({2, 2}, {1, 0, 0, 1});
  const Curvature both = curvature_of(x, weight, {.mean = true, .deviation = true});
  CHECK(both.any ==
        doctest::Approx(25 / 0.25 / 2).epsilon(1e-3));  // trace 2 * 25 / sigma^2, over 4 directions
}

TEST_CASE("dissect: of what was measured no best rate is at an end of the range") {
  const std::string path = "models/lab/results/dissect.csv", loss = "training loss by rate";
  const Rows rows = rows_of(path, read_file(path));
  for (const std::string& variant : variants_of(rows, loss))
    for (const std::int64_t seed : seeds_of(rows)) {
      CAPTURE(variant);
      CAPTURE(seed);
      const Points points = points_of(rows, seed, variant, loss);
      const auto best = std::ranges::min_element(points, {}, &Points::value_type::second);
      CHECK(best != points.begin());
      CHECK(best + 1 != points.end());
    }
}
