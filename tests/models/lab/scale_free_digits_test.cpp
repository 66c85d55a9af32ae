// Digits with hidden weights of their own rate: what is held, what is slow, which labels are random.

#include "models/lab/scale_free_digits.h"

#include <algorithm>

#include "tests/check.h"

using namespace lamina;
using namespace lamina::lab;
using namespace lamina::test;

namespace {

const NoisyDigits& digits() {
  static const NoisyDigits noisy = noisy_digits(1, 200, 10);
  return noisy;
}

}  // namespace

TEST_CASE("noisy digits: a fifth has random labels, the rest those of the images") {
  const NoisyDigits noisy = noisy_digits(3, 1000, 10);
  const MnistData clean = synthetic_mnist(3, 1000, 1, 10);
  CHECK(noisy.data.train.pixels == clean.train.pixels);
  CHECK(noisy.data.test.labels == clean.test.labels);
  CHECK(noisy.random.count() > 150);
  CHECK(noisy.random.count() < 250);
  CHECK(noisy.random.pixels.size() == noisy.random.count() * 784);
  size_t changed = 0, next = 0;
  for (size_t i = 0; i < 1000; ++i) {
    const auto image = std::span(clean.train.pixels).subspan(i * 784, 784);
    const bool random = next < noisy.random.count() &&
                        std::ranges::equal(image, std::span(noisy.random.pixels).subspan(next * 784, 784));
    if (random) CHECK(noisy.random.labels[next++] == noisy.data.train.labels[i]);
    changed += noisy.data.train.labels[i] != clean.train.labels[i];
    if (!random) CHECK(noisy.data.train.labels[i] == clean.train.labels[i]);
  }
  CHECK(next == noisy.random.count());
  CHECK(changed > noisy.random.count() * 3 / 4);
}

TEST_CASE("scale-free digits: held weights turn and keep their lengths") {
  for (const Norm norm : {Norm::none, Norm::batch, Norm::layer, Norm::weight}) {
    CAPTURE(std::string(name_of(norm)));
    ScaleFreeDigits trained(digits().data, norm, {.rate = 2, .held = true}, 1);
    CHECK(trained.by_column == (norm != Norm::layer));
    const Tensor first = trained.watched().copy();
    const std::vector<double> lengths = lengths_of(first, trained.by_column);
    for (std::uint64_t step = 0; step < 3; ++step) trained.train(step);
    const std::vector<double> now = lengths_of(trained.watched(), trained.by_column);
    for (size_t i = 0; i < now.size(); ++i) CHECK(now[i] == doctest::Approx(lengths[i]).epsilon(1e-5));
    CHECK(mean_angle(first, trained.watched()) > 0.1);
  }
}

TEST_CASE("scale-free digits: the hidden weights have their own rate") {
  ScaleFreeDigits still(digits().data, Norm::layer, {.rate = 0, .rate_of_others = 0.5}, 1),
      alike(digits().data, Norm::layer, {.rate = 0.5}, 1),
      apart(digits().data, Norm::layer, {.rate = 0.5, .rate_of_others = 0.5}, 1);
  const Tensor first = still.watched().copy();
  const double loss = still.net.score(digits().data.train).nll;
  for (std::uint64_t step = 0; step < 3; ++step)
    for (ScaleFreeDigits* const each : {&still, &alike, &apart}) each->train(step);
  CHECK(identical(still.watched(), first));
  CHECK(still.relative_length() == 1);
  CHECK(still.net.score(digits().data.train).nll != loss);
  CHECK(identical(alike.watched(), apart.watched()));
  CHECK(alike.relative_length() > 1);
}

TEST_CASE("scale-free digits: a turned column's angle in degrees") {
  const Tensor before = Tensor::from({2, 2}, {1, 3, 0, 0}), after = Tensor::from({2, 2}, {0, 3, 2, 0});
  CHECK(mean_angle(before, after) == doctest::Approx(45));
}
