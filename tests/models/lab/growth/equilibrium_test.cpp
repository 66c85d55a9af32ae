// Lengths of weights whose loss does not depend on them, where the answer is known.

#include "models/lab/growth/equilibrium.h"

#include "models/lab/scale_free_digits.h"
#include "optim/sgd.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::lab;
using namespace lamina::test;

namespace {

/// SGD along gradients at a right angle to w [20 x 1], of length `size` / norm2(w), in random directions.
UpdateMoments descend(double rate, double decay, double size, int steps, Tensor* last = nullptr) {
  Parameters parameters(1);
  Tensor w = parameters.add("w", sample({20, 1}, 1));
  Sgd sgd(parameters, {.learning_rate = static_cast<real>(rate), .weight_decay = static_cast<real>(decay)});
  Random random(2);
  UpdateWatch watch(rate, decay, true);
  for (int step = 0; step < steps; ++step) {
    Tensor direction(w.shape());
    random.fill_normal(direction.data(), direction.size(), 0, 1);
    const double length = lengths_of(w, true).front();
    const double along = static_cast<double>(sum(direction * w).item()) / (length * length);
    direction = direction - w * static_cast<real>(along);
    const Tensor before = w.copy();
    Tape tape;
    tape.backward(
        sum(w * (direction * static_cast<real>(size / length / lengths_of(direction, true).front()))));
    sgd.step();
    if (step >= steps / 2) watch.add(before, w);
  }
  if (last != nullptr) *last = w.copy();
  return watch.means().front();
}

}  // namespace

TEST_CASE("equilibrium: the length at rest is where growth and decay balance") {
  const double rate = 0.2, decay = 0.05, size = 3;
  const UpdateMoments moments = descend(rate, decay, size, 1000);
  const double theory = std::pow(rate * size * size / (2 * decay - rate * decay * decay), 0.25);
  CHECK(moments.product == doctest::Approx(rate * rate * size * size).epsilon(1e-3));
  CHECK(resting_length_of_sgd(moments, rate, decay) == doctest::Approx(theory).epsilon(1e-3));
  CHECK(moments.length == doctest::Approx(theory).epsilon(1e-3));
}

TEST_CASE("equilibrium: without decay the fourth power of the length grows by 2 (r G)^2 an update") {
  Tensor last;
  descend(0.2, 0, 3, 2000, &last);
  const double first = lengths_of(sample({20, 1}, 1), true).front();
  CHECK(std::pow(lengths_of(last, true).front(), 4) ==
        doctest::Approx(std::pow(first, 4) + 2 * 0.36 * 2000).epsilon(0.01));
}

TEST_CASE("equilibrium: updates of a given length, with and without momentum") {
  const UpdateMoments moments{.length = 1, .squared_update = 0.04, .product = 1};
  CHECK(resting_length_of_adam(moments, 0.1, 1, 0) == doctest::Approx(std::sqrt(0.04 / 0.19)));
  CHECK(resting_length_of_adam(moments, 0.1, 1, 0.5) == doctest::Approx(std::sqrt(3 * 0.04 / 0.19)));
}

TEST_CASE("equilibrium: lengths of columns and of the whole") {
  const Tensor w = Tensor::from({2, 2}, {3, 1, 4, 2});
  CHECK(lengths_of(w, true)[0] == doctest::Approx(5));
  CHECK(lengths_of(w, true)[1] == doctest::Approx(std::sqrt(5.0)));
  CHECK(lengths_of(w, false)[0] == doctest::Approx(std::sqrt(30.0)));
}
