// The measuring of the lab on reparameterization, where the answer is known.

#include "models/lab/structure/reparameterization.h"

#include <cmath>

#include "models/lab/structure/affine_fit.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::lab;
using namespace lamina::test;

TEST_CASE("an affine function is fitted without a rest, a square is not") {
  const Tensor x = sample({40, 3}, 1), w = sample({3, 5}, 2);
  CHECK(affine_residual(x, matmul(x, w) + 2) < 100 * ulp);
  CHECK(affine_residual(x, Tensor::full({40, 2}, 3)) < 100 * ulp);
  const Tensor even = Tensor::from({4, 1}, {-2, -1, 1, 2});
  CHECK(affine_residual(even, square(even)) ==
        doctest::Approx(1));  // x^2 is orthogonal to x and to 1 up to its mean
  CHECK_THROWS_AS(affine_residual(x, sample({39, 5}, 3)), Error);
}

TEST_CASE("a gain and a bias of each unit restore no mixture of units") {
  const Tensor x = sample({40, 3}, 1), gain = sample({3}, 2, 0.5, 2), bias = sample({3}, 3);
  CHECK(gain_and_bias_residual(x, x * gain + bias) < 100 * ulp);
  const Tensor swap = Tensor::from({3, 3}, {0, 1, 0, 1, 0, 0, 0, 0, 1});
  CHECK(gain_and_bias_residual(x, matmul(x, swap)) > 0.1);
}

TEST_CASE("what is NaN is neither fitted nor the same") {
  const Tensor x = sample({40, 3}, 1);
  Tensor other = x.copy(), y = sample({40, 2}, 2);
  other[5] = y[7] = real(std::nan(""));
  CHECK(relative_difference(x, x) == 0);
  CHECK(relative_difference(Tensor::from({1, 2}, {3, 1}), Tensor::from({1, 2}, {2, -4})) ==
        doctest::Approx(1.25));
  CHECK(std::isnan(relative_difference(x, other)));
  CHECK(std::isnan(relative_difference(other, x)));
  CHECK(std::isnan(affine_residual(x, y)));
  CHECK(std::isnan(gain_and_bias_residual(x, other)));
}

TEST_CASE("a folded layer computes what the normalized one does") {
  Parameters parameters(1);
  const Linear weighted(parameters, "w", {.input = 4, .output = 3, .weights = Norm::weight});
  const Linear plain(parameters, "p", {.input = 4, .output = 3});
  BatchNorm norm(parameters, "n", {.features = 3});
  const Tensor x = sample({8, 4}, 1);
  for (int i = 0; i < 5; ++i) norm(plain(sample({8, 4}, 10 + static_cast<std::uint64_t>(i))), Mode::train);
  CHECK(difference(folded(weighted)(x), weighted(x)) < 20 * ulp);
  CHECK(difference(folded(plain, norm)(x), norm(plain(x), Mode::evaluate)) < 100 * ulp);
}
