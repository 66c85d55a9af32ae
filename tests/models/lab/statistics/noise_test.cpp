// The measuring of the lab on batch norm's noise, where the answer is known.

#include "models/lab/statistics/noise.h"

#include "core/ops.h"
#include "models/data/digits.h"
#include "models/training/digit_experiment.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::lab;
using namespace lamina::test;

namespace {

double largest_difference(const Tensor& a, const Tensor& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, static_cast<double>(std::fabs(a[i] - b[i])));
  return largest;
}

}  // namespace

TEST_CASE("with the statistics of all cases training computes what use does, with those of a batch not") {
  const SmallDigits digits = small_digits(48, 1);
  Random random(1);
  NoiseNet exact({"exact", Norm::batch, 0}, 196, 16, 1), noisy({"noisy", Norm::batch, 16}, 196, 16, 1);
  exact.measure_population(digits.x);
  noisy.measure_population(digits.x);
  CHECK(largest_difference(exact.use(digits.x), noisy.use(digits.x)) == 0);
  CHECK(largest_difference(exact.train(digits.x, random), exact.use(digits.x)) < 1e-4);
  CHECK(largest_difference(noisy.train(digits.x, random), noisy.use(digits.x)) > 0.1);
  // A part is a batch of its own.
  noisy.measure_population(digits.x);
  const Tensor together = noisy.train(digits.x, random), alone = noisy.train(digits.x.slice(16, 32), random);
  CHECK(largest_difference(together.slice(16, 32), alone) < 1e-4);
}

TEST_CASE("noise and dropout act in training alone, and differ from step to step") {
  const SmallDigits digits = small_digits(32, 2);
  const NoiseVariant variants[] = {{"layer with noise", Norm::layer, 0, 16},
                                   {"batch over all cases with noise", Norm::batch, 0, 16},
                                   {"none with dropout", Norm::none, 0, 0, 0.5}};
  for (const NoiseVariant& variant : variants) {
    CAPTURE(variant.name);
    NoiseVariant plain = variant;
    plain.noise = 0;
    plain.dropout = 0;
    NoiseNet net(variant, 196, 16, 3), without(plain, 196, 16, 3);
    Random random(4);
    net.measure_population(digits.x);
    without.measure_population(digits.x);
    CHECK(largest_difference(net.use(digits.x), without.use(digits.x)) == 0);
    const Tensor once = net.train(digits.x, random);
    CHECK(largest_difference(once, net.use(digits.x)) > 0.05);
    CHECK(largest_difference(once, net.train(digits.x, random)) > 0.05);
  }
}

TEST_CASE("the noise by hand is shared by a part and as large as that of a batch's statistics") {
  constexpr size_t k = 16, parts = 200, units = 50;
  Random random(5);
  const PartNoise noise = draw_part_noise(k * parts, units, k, random);
  Tensor a({k * parts, units});
  random.fill_normal(a.data(), a.size(), 0, 1);
  double scale = 0, shift = 0, scale_of_batch = 0, shift_of_batch = 0;  // squares
  const auto add = [](double& sum, real x) { sum += static_cast<double>(x * x) / (parts * units); };
  for (size_t p = 0; p < parts; ++p) {
    const Tensor rows = a.slice(p * k, (p + 1) * k);
    const Tensor center = mean_rows(rows), variances = mean_rows(square(rows - center));
    for (size_t c = 0; c < units; ++c) {
      for (size_t r = p * k + 1; r < (p + 1) * k; ++r) {
        CHECK(noise.scale.at(r, c) == noise.scale.at(p * k, c));
        CHECK(noise.shift.at(r, c) == noise.shift.at(p * k, c));
      }
      add(scale, noise.scale.at(p * k, c) - 1);
      add(shift, noise.shift.at(p * k, c));
      add(scale_of_batch, std::sqrt(variances[c] * k / (k - 1)) - 1);
      add(shift_of_batch, center[c]);
    }
  }
  // Approx allows epsilon (1 + value): twice epsilon here.
  CHECK(shift * k == doctest::Approx(1).epsilon(0.03));
  CHECK(scale * 2 * k == doctest::Approx(1).epsilon(0.03));
  CHECK(shift / shift_of_batch == doctest::Approx(1).epsilon(0.04));
  CHECK(scale / scale_of_batch == doctest::Approx(1).epsilon(0.07));  // equal to first order in 1 / k
}

TEST_CASE("wrong answers are rows whose largest logit is elsewhere") {
  const Tensor logits = Tensor::from({4, 3}, {1, 0, 0, 0, 2, 1, 0, 0, 1, 3, 1, 2});
  CHECK(wrong_answers(logits, std::vector<int>{0, 1, 2, 0}) == 0);
  CHECK(wrong_answers(logits, std::vector<int>{0, 2, 2, 1}) == 2);
}

TEST_CASE("small digits are means of four pixels") {
  const SmallDigits digits = small_digits(3, 7);
  const Digits large = draw_digits(3, 7);
  CHECK(digits.labels == large.labels);
  const auto pixel = [&](size_t row, size_t column) { return large.pixels[2 * 784 + row * 28 + column]; };
  const real expected = static_cast<real>(pixel(12, 14) + pixel(12, 15) + pixel(13, 14) + pixel(13, 15)) / 4;
  CHECK(digits.x.at(2, 6 * 14 + 7) == doctest::Approx(static_cast<double>(expected)).epsilon(1e-5));
}
