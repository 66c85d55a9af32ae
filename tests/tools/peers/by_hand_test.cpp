// The models that tools/peers has by hand compute what Lamina's compute: with the same parameters and data, the same gradients.

#include "layers/recurrent/recurrent.h"
#include "models/convnet/model.h"
#include "models/mnist/model.h"
#include "tests/check.h"
#include "tools/peers/by_hand/digits.h"
#include "tools/peers/by_hand/recurrent.h"

using namespace lamina;
using namespace lamina::test;

namespace {

by_hand::Numbers numbers_of(std::span<const real> values) {
  by_hand::Numbers all;
  for (const real value : values) all.push_back(static_cast<float>(value));
  return all;
}

/// Gives `theirs` Lamina's values, parameter after parameter; `names` in their order.
void copy_values(const Parameters& ours, const std::vector<std::string>& names, by_hand::Parameters& theirs) {
  size_t place = 0;
  for (const std::string& name : names)
    for (const float value : numbers_of(ours.learned()[ours.named(name)[0]].value.values()))
      theirs.value[place++] = value;
  CHECK(place == theirs.value.size());
}

/// The largest difference, relative to the largest gradient of each parameter.
double worst_gradient(Parameters& ours, const std::vector<std::string>& names,
                      const by_hand::Parameters& theirs) {
  const std::span<const real> gradients = ours.gradients();
  size_t place = 0;
  double worst = 0;
  for (const std::string& name : names) {
    const size_t number = ours.named(name)[0];
    double largest = 0, difference = 0;
    for (const float mine :
         numbers_of(gradients.subspan(ours.offset(number), ours.learned()[number].value.size()))) {
      largest = std::max(largest, std::abs(static_cast<double>(mine)));
      difference = std::max(
          difference, std::abs(static_cast<double>(mine) - static_cast<double>(theirs.gradient[place++])));
    }
    worst = std::max(worst, difference / largest);
  }
  return worst;
}

template <class Layer, class ByHand>
double worst_recurrent_gradient(const std::vector<std::string>& names, size_t batch) {
  constexpr size_t steps = 4, input = 5, hidden = 7;
  Parameters parameters(1);
  const Layer layer(parameters, "layer", {.input = input, .hidden = hidden});
  const Tensor x = sample({steps, batch, input}, 2);
  Tape tape;
  tape.backward(mean_square(layer(x).hidden));
  ByHand by_hand(by_hand::Sizes{steps, batch, input, hidden});
  copy_values(parameters, names, by_hand.parameters);
  const by_hand::Numbers numbers = numbers_of(x.values());
  for (int run = 0; run < 2; ++run) {  // nothing is left of the first
    by_hand.forward(numbers.data());
    by_hand.backward(numbers.data());
  }
  return worst_gradient(parameters, names, by_hand.parameters);
}

template <class Model, class Options, class ByHand>
double worst_digits_gradient(const std::vector<std::string>& names, size_t batch) {
  Parameters parameters(1);
  Model model(parameters, Options{});
  const Tensor images = sample({batch, 784}, 2);
  std::vector<int> labels;
  for (size_t image = 0; image < batch; ++image) labels.push_back(static_cast<int>(3 * image % 10));
  Tape tape;
  tape.backward(cross_entropy(model(images, Mode::train), labels));
  ByHand by_hand(batch);
  copy_values(parameters, names, by_hand.parameters);
  const by_hand::Numbers numbers = numbers_of(images.values());
  for (int run = 0; run < 2; ++run) {
    by_hand.forward(numbers);
    by_hand::cross_entropy(by_hand.logits.y, labels, by_hand.logits.dy);
    by_hand.backward(numbers);
  }
  return worst_gradient(parameters, names, by_hand.parameters);
}

}  // namespace

TEST_CASE("peers: layers and models by hand have the gradients of Lamina's") {
  for (const size_t batch : {1U, 3U}) {
    CAPTURE(batch);
    CHECK(worst_recurrent_gradient<Lstm, by_hand::Lstm>(
              {"layer.input_weight", "layer.hidden_weight", "layer.bias"}, batch) < 1e-4);
    CHECK(worst_recurrent_gradient<Gru, by_hand::Gru>({"layer.input_weight", "layer.hidden_weight"}, batch) <
          1e-4);
    CHECK(worst_digits_gradient<mnist::Model, mnist::ModelOptions, by_hand::Mlp>(
              {"hidden1.weight", "hidden1.bias", "hidden2.weight", "hidden2.bias", "logits.weight",
               "logits.bias"},
              batch) < 1e-4);
    CHECK(worst_digits_gradient<convnet::Model, convnet::ModelOptions, by_hand::Convnet>(
              {"conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias", "hidden.weight", "hidden.bias",
               "logits.weight", "logits.bias"},
              batch) < 1e-4);
  }
}

TEST_CASE("peers: Adam by hand") {
  by_hand::Parameters parameters;
  parameters.add(2, 1);
  const by_hand::Numbers before = parameters.value;
  for (int step = 0; step < 3; ++step) {
    parameters.gradient = {2, -0.5};
    parameters.adam_step(0.01F);
  }
  // Of equal gradients, both moments without their bias are the gradient and its square.
  CHECK(parameters.value[0] == doctest::Approx(before[0] - 0.03F));
  CHECK(parameters.value[1] == doctest::Approx(before[1] + 0.03F));
}
