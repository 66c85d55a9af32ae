#include "core/ops/clip_gradient.h"

#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

TEST_CASE("clip_gradient: changes nothing forward and bounds every element backward") {
  const Tensor x = leaf({2, 3}, 1);
  const Tensor factors = Tensor::from({2, 3}, {-5, -1, real(0.25), 1, 2, real(-0.5)});
  Tape tape;
  const Tensor y = clip_gradient(x, 1);
  CHECK(identical(x, y));
  tape.backward(sum(y * factors));
  CHECK(difference(x.gradient(), {-1, -1, 0.25, 1, 1, -0.5}) == 0);
}

TEST_CASE("clip_gradient: within its bound it is the identity, and a NaN stays one") {
  const Tensor x = leaf({3, 5}, 2);
  check_gradients({x}, [&] { return weighted(clip_gradient(x, 10)); });
  const Tensor z = leaf({1}, 3);
  Tape tape;
  tape.backward(sum(clip_gradient(z, 1) * Tensor::full({1}, std::numeric_limits<real>::quiet_NaN())));
  CHECK(std::isnan(z.gradient().item()));
}

TEST_CASE("clip_gradient: a bound that is none is refused") {
  CHECK_ERROR(clip_gradient(Tensor::zeros({1}), 0), "clip_gradient: a bound of 0; it must be positive");
}
