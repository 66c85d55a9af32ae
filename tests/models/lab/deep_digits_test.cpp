#include "models/lab/deep_digits.h"

#include "tests/check.h"

using namespace lamina;
using namespace lamina::lab;
using namespace lamina::test;

namespace {

const MnistData& digits() {
  static const MnistData data = synthetic_mnist(1, 60, 20, 1);
  return data;
}

}  // namespace

TEST_CASE("deep digits: what the hidden layers get is normalized, and the logits follow from it") {
  const DigitCases cases = cases_of(digits().valid, 5, 10);
  CHECK(cases.images.shape() == Shape{10, 784});
  CHECK(cases.labels[0] == digits().valid.labels[5]);
  CHECK(cases.images[3 * 784 + 400] == digits().valid.pixels[8 * 784 + 400]);
  DeepDigits net(digits(),
                 {.digits = {.norm = Norm::layer, .batch = 20}, .depth = 3, .width = 16, .gain = 2});
  std::vector<HiddenLayer> hidden;
  const Tensor logits = net.logits(cases.images, Mode::evaluate, hidden);
  CHECK(identical(logits, net.logits(cases.images, Mode::evaluate)));
  REQUIRE(hidden.size() == 3);
  CHECK(difference(hidden[0].summed_inputs, matmul(cases.images, net.weight(0))) < 1e-5);
  CHECK(difference(hidden[1].summed_inputs, matmul(relu(hidden[0].seen), net.weight(1))) < 1e-5);
  for (const HiddenLayer& layer : hidden) {
    CHECK(difference(mean_columns(layer.seen), Tensor::zeros({10, 1})) < 1e-5);
    CHECK(difference(mean_columns(square(layer.seen)), Tensor::full({10, 1}, 4)) < 1e-2);
  }
}

TEST_CASE("deep digits: what stands behind the normalization is what f gets") {
  DeepDigitsOptions options{.digits = {.batch = 20}, .depth = 2, .width = 8, .function = tanh};
  options.then = [](const Tensor& a, size_t layer, Mode) { return a + real(layer); };
  DeepDigits net(digits(), options);
  std::vector<HiddenLayer> hidden;
  net.logits(cases_of(digits().valid, 0, 4).images, Mode::evaluate, hidden);
  CHECK(identical(hidden[1].seen, hidden[1].summed_inputs + real(1)));
}

TEST_CASE("deep digits: a step of SGD follows the gradient, and training learns") {
  const DigitOptions sgd{
      .norm = Norm::batch, .batch = 20, .optimizer = OptimizerKind::sgd, .learning_rate = real(0.125)};
  DeepDigits net(digits(), {.digits = sgd, .depth = 2, .width = 16}),
      same(digits(), {.digits = sgd, .depth = 2, .width = 16});
  {
    Tape tape;
    tape.backward(same.loss(0));
  }
  const Tensor expected = same.weight(0) - same.weight(0).gradient() * real(0.125);
  const double first = net.train(0);
  CHECK(difference(net.weight(0), expected) < 1e-6);
  double last = 0;
  for (std::uint64_t step = 1; step < 60; ++step) last = net.train(step);
  CHECK(last < 0.5 * first);
}
