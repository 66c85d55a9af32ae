// The measuring of the lab on batch norm in training and in use, where the answer is known.

#include "models/lab/statistics/train_test.h"

#include <numbers>

#include "core/ops.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::lab;
using namespace lamina::test;

namespace {

double layer_at(size_t batch, const BatchNormOptions& options) {
  Random random(3);
  return layer_difference(options, true, batch, random);
}

}  // namespace

TEST_CASE("rms difference") {
  CHECK(rms_difference(Tensor::from({2, 2}, {1, 2, 3, 4}), Tensor::from({2, 2}, {1, 2, 3, 10})) ==
        doctest::Approx(3));
}

// A pair of cases becomes s and -s, s = 1 or, with the unbiased variance, sqrt(1 / 2), with the sign of z1 - z2:
// E[(s sign(z1 - z2) - z1)^2] = s^2 + 1 - 2 s E|z1 - z2| / 2, and E|z1 - z2| = 2 / sqrt(pi).
TEST_CASE("one layer: a pair of Gaussian cases is off by what theory says") {
  const double half = std::sqrt(0.5), mean = 2 / std::sqrt(std::numbers::pi);
  CHECK(layer_at(2, {.features = 64}) == doctest::Approx(std::sqrt(2 - mean)).epsilon(0.02).scale(0));
  CHECK(layer_at(2, {.features = 64, .variance = Variance::unbiased}) ==
        doctest::Approx(std::sqrt(1.5 - half * mean)).epsilon(0.02).scale(0));
}

// To first order in 1 / B the mean of B cases has variance 1 / B and their deviation 1 / (2 B), which z^2 multiplies.
TEST_CASE("one layer: in a large batch the difference is sqrt(3 / (2 B))") {
  CHECK(layer_at(256, {.features = 64}) == doctest::Approx(std::sqrt(1.5 / 256)).epsilon(0.05).scale(0));
}

TEST_CASE("one layer: parts differ as batches of their size, corrections without limits not at all") {
  CHECK(layer_at(256, {.features = 64, .part = 16}) ==
        doctest::Approx(layer_at(16, {.features = 64})).epsilon(0.05).scale(0));
  CHECK(layer_at(4, {.features = 64, .r_max = 1e6, .d_max = 1e6}) < 1e-3);
}

// Where the batch is all cases, its statistics are the precise ones.
TEST_CASE("precise statistics make use the same as training on a batch of all cases") {
  const MnistData data = synthetic_mnist(1, 64, 1, 1);
  DeepDigits net(data, {.digits = {.norm = Norm::batch, .batch = 16}, .depth = 3, .width = 8});
  for (std::uint64_t step = 0; step < 5; ++step) net.train(step);
  const Tensor images = cases_of(data.train, 0, 64).images;
  const Tensor in_training = net.logits(images, Mode::evaluate_by_batch);
  CHECK(difference(net.logits(images, Mode::evaluate), in_training) > 0.01);
  measure_precisely(net, images);
  CHECK(difference(net.logits(images, Mode::evaluate), in_training) < 1000 * ulp);
}
