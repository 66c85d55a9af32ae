// The dropout layer in each mode.

#include "layers/dropout.h"

#include <algorithm>

#include "tests/check.h"

using namespace lamina;

TEST_CASE("dropout acts in training only") {
  const Dropout layer(real(0.25));
  const Tensor x = Tensor::ones({100, 10});
  Random random(1), again(1);
  const Tensor trained = layer(x, Mode::train, random), expected = dropout(x, real(0.25), again);
  CHECK(std::ranges::equal(trained.values(), expected.values()));
  CHECK(std::ranges::count(trained.values(), real(0)) > 150);
  CHECK(layer(x, Mode::evaluate, random).storage() == x.storage());
  CHECK_THROWS_AS(Dropout(1), Error);
}
