// What the sgd lab measures, on a function whose descent is known.

#include "models/lab/optimization/sgd.h"

#include "optim/sgd.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::lab;
using namespace lamina::test;

namespace {

/// L = 1/2 (4 w^2) from w = 1: every step multiplies w by 1 - 4 rate, and the loss by its square.
Descent descend(double rate, const DescentOptions& options) {
  Parameters parameters(1);
  const Tensor w = parameters.add("w", Tensor::ones({1}));
  Sgd sgd(parameters, {.learning_rate = static_cast<real>(rate)});
  return follow(options, [&](std::uint64_t) {
    Tape tape;
    const Tensor loss = sum(square(w)) * real(2);
    tape.backward(loss);
    sgd.step();
    return static_cast<double>(loss.item());
  });
}

}  // namespace

TEST_CASE("sgd: a quadratic function's descent") {
  // The losses at rate 1/8 are 2 / 4^t: 2, 0.5, 0.125, 0.03125.
  const Descent single = descend(0.125, {.steps = 4, .window = 1, .goal = 0.125});
  CHECK(single.updates == 3);
  CHECK(single.loss == doctest::Approx(0.03125));
  const Descent pairs = descend(0.125, {.steps = 4, .window = 2, .goal = 0.125});
  CHECK(pairs.updates == 4);  // the first pair's mean is 1.25
  CHECK(pairs.loss == doctest::Approx((0.125 + 0.03125) / 2));
  CHECK(std::isinf(descend(0.125, {.steps = 4, .window = 1, .goal = 0.03}).updates));
}

TEST_CASE("sgd: the best rate is one over the curvature, and twice that is too much") {
  const DescentOptions options{.steps = 50, .window = 1, .goal = 1e-3};
  std::vector<RatedDescent> sweep;
  for (const double rate : {0.01, 0.125, 0.25, 0.375, 0.5, 1.0})
    sweep.push_back({rate, descend(rate, options)});
  CHECK(sweep[2].descent.updates == 2);  // at 1/4 one step is enough
  CHECK(sweep[1].descent.updates == sweep[3].descent.updates);
  CHECK(sweep[4].descent.loss == doctest::Approx(2));  // from 1 to -1 and back
  CHECK(highest_rate(sweep) == 0.375);
  CHECK(highest_rate({}) == 0);
}

TEST_CASE("sgd: a training that diverges ends with an infinite loss, but has been where it was") {
  const Descent descent = follow({.steps = 10, .window = 1, .goal = 0.5}, [](std::uint64_t step) {
    return step < 3 ? 1.0 / static_cast<double>(step + 1) : std::nan("");
  });
  CHECK(std::isinf(descent.loss));
  CHECK(descent.updates == 2);
  CHECK_ERROR(follow({.steps = 10, .window = 3}, [](std::uint64_t) { return 0.0; }),
              "follow: a window of 3 does not divide 10 steps");
}
