// SGD with momentum, by hand.

#include "optim/sgd.h"

#include "layers/embedding.h"
#include "tests/check.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// w after each of three steps on the gradients 1, 2, -1 (L = g w), from w = 1.
std::vector<double> path(const SgdOptions& options) {
  Parameters parameters(1);
  Tensor w = parameters.add("w", Tensor::ones({1}));
  Sgd sgd(parameters, options);
  std::vector<double> values;
  for (const real g : {real(1), real(2), real(-1)}) {
    Tape tape;
    tape.backward(w * g);
    sgd.step();
    CHECK(w.gradient_data() == nullptr);
    values.push_back(static_cast<double>(w.item()));
  }
  return values;
}

void check_path(const SgdOptions& options, std::array<double, 3> expected) {
  const auto values = path(options);
  for (size_t i = 0; i < 3; ++i) CHECK(std::fabs(values[i] - expected[i]) < 4 * ulp);
}

}  // namespace

TEST_CASE("sgd: three steps by hand") {
  check_path({.learning_rate = real(0.1)}, {0.9, 0.7, 0.8});
  // velocity 1, 2.5, 0.25
  check_path({.learning_rate = real(0.1), .momentum = real(0.5)}, {0.9, 0.65, 0.625});
  // g + momentum velocity: 1.5, 3.25, -0.875
  check_path({.learning_rate = real(0.1), .momentum = real(0.5), .nesterov = true}, {0.85, 0.525, 0.6125});
  // g = 1 + 0.5 * 1 = 1.5;  2 + 0.5 * 0.85 = 2.425;  -1 + 0.5 * 0.6075 = -0.69625
  check_path({.learning_rate = real(0.1), .weight_decay = real(0.5)}, {0.85, 0.6075, 0.677125});
}

TEST_CASE("sgd: without momentum a step on the rows in use is the whole step") {
  const auto run = [](bool lazy) {
    Parameters parameters(1);
    const Embedding words(parameters, "words", {.entries = 5, .width = 3, .initial = normal(1)});
    Sgd sgd(parameters, {.learning_rate = real(0.1)});
    if (lazy) sgd.update_only(words.table(), words.used_rows());
    for (const std::vector<int>& batch : {std::vector<int>{1, 3}, std::vector<int>{3, 4, 4}}) {
      Tape tape;
      tape.backward(weighted(square(words(batch))));
      sgd.step();
    }
    CHECK(sgd.steps == 2);
    return words.table().copy();
  };
  CHECK(identical(run(false), run(true)));
}

TEST_CASE("sgd: bad options are refused, and a model that grew") {
  Parameters parameters(1);
  parameters.add("w", Tensor::ones({1}));
  CHECK_ERROR(Sgd(parameters, {.learning_rate = 0}), "sgd: learning rate 0; it must be positive");
  CHECK_ERROR(Sgd(parameters, {.momentum = 1}), "sgd: momentum 1; it must be at least 0 and below 1");
  Sgd sgd(parameters, {});
  parameters.add("later", Tensor::ones({1}));
  CHECK_ERROR(sgd.step(),
              "sgd: the model grew after its optimizer was made; make the optimizer when all layers exist");
}
