// Dropout: the share that survives, its scale, and that the gradient uses the same mask.

#include "core/ops/dropout.h"

#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

TEST_CASE("dropout: survivors are scaled, and as many as expected") {
  const Tensor x = Tensor::ones({200, 500});
  for (const double rate : {0.1, 0.5, 0.9}) {
    Random random(1);
    const Tensor y = dropout(x, static_cast<real>(rate), random);
    size_t kept = 0;
    for (const real v : y.values()) {
      kept += v != 0;
      if (v != 0) CHECK(std::fabs(v * (1 - rate) - 1) < 4 * ulp);
    }
    const double count = 1e5, deviation = std::sqrt(count * rate * (1 - rate));
    CHECK(std::fabs(static_cast<double>(kept) - count * (1 - rate)) < 5 * deviation);
  }
}

TEST_CASE("dropout: gradient with a fixed mask") {
  for (const Shape& shape : odd_shapes) {
    const Tensor x = sample(shape, 1);
    check_gradients({x}, [&] {
      Random random(7);  // the same mask in every evaluation
      return weighted(square(dropout(x, real(0.4), random)));
    });
  }
}

TEST_CASE("dropout: the mask depends on the generator's position, which moves on") {
  const Tensor x = Tensor::ones({64});
  Random random(1), same(1);
  const Tensor first = dropout(x, real(0.5), random), second = dropout(x, real(0.5), random);
  CHECK(!identical(first, second));
  CHECK(identical(first, dropout(x, real(0.5), same)));
}

TEST_CASE("dropout: a rate of 0 is the identity; others are refused") {
  Random random(1);
  const Tensor x = sample({3}, 1);
  CHECK(dropout(x, 0, random).storage() == x.storage());
  CHECK_ERROR(dropout(x, 1, random), "dropout: the rate is 1; it must be at least 0 and below 1");
  CHECK_ERROR(dropout(x, real(-0.5), random), "dropout: the rate is -0.5; it must be at least 0 and below 1");
  CHECK(contains(error_of([&] { dropout(x, std::numeric_limits<real>::quiet_NaN(), random); }), "dropout:"));
}
