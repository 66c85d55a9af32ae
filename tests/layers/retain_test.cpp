// A second backward pass through the same tape, for every layer.

#include "optim/adam.h"
#include "tests/layers/every_layer.h"

using namespace lamina;
using namespace lamina::test;

namespace {

constexpr double tolerance = sizeof(real) == 8 ? 1e-12 : 1e-4;

/// All gradients after `run`, one after another; they are zero before.
template <class Run>
Tensor gradients_of(Parameters& parameters, const Run& run) {
  parameters.clear_gradients();
  run();
  const std::span<const real> all = parameters.gradients();
  const Tensor result = Tensor::from({all.size()}, all);
  parameters.clear_gradients();
  return result;
}

Tensor times(const Tensor& x, real factor) {
  const Tape::Pause pause;
  return x * factor;
}

}  // namespace

TEST_CASE("retain: the same loss n times gives n times the gradient, for every layer") {
  for (const LayerCase& each : every_layer()) {
    CAPTURE(each.name);
    Parameters parameters(1);
    const auto loss = each.make(parameters);
    const Tensor once = gradients_of(parameters, [&] {
      Tape tape;
      tape.backward(loss());
    });
    CHECK(largest(once) > 0);
    const Tensor retained = gradients_of(parameters, [&] {
      Tape tape;
      tape.backward(loss(), {.retain = true});
    });
    CHECK(identical(retained, once));
    const Tensor thrice = gradients_of(parameters, [&] {
      Tape tape;
      const Tensor value = loss();
      tape.backward(value, {.retain = true});
      tape.backward(value, {.retain = true});
      tape.backward(value);
    });
    CHECK(difference(thrice, times(once, 3)) < tolerance);
  }
}

TEST_CASE("retain: two losses over a shared trunk give the gradient of their sum, for every layer") {
  for (const LayerCase& each : every_layer()) {
    CAPTURE(each.name);
    Parameters parameters(1);
    const auto loss = each.make(parameters);
    // The layer's loss is the trunk of two heads.
    const auto heads = [](const Tensor& trunk) { return std::pair(tanh(trunk) * real(3), square(trunk)); };
    const Tensor of_sum = gradients_of(parameters, [&] {
      Tape tape;
      const auto [first, second] = heads(loss() * real(0.1));
      tape.backward(first + second);
    });
    const Tensor of_both = gradients_of(parameters, [&] {
      Tape tape;
      const auto [first, second] = heads(loss() * real(0.1));
      tape.backward(first, {.retain = true});
      tape.backward(second);
    });
    CHECK(difference(of_both, of_sum) < tolerance);
    const Tensor recorded_later = gradients_of(parameters, [&] {
      Tape tape;
      const Tensor trunk = loss() * real(0.1);
      tape.backward(tanh(trunk) * real(3), {.retain = true});
      tape.backward(square(trunk));
    });
    CHECK(difference(recorded_later, of_sum) < tolerance);
  }
}

TEST_CASE("retain: an update between the passes is an error") {
  Parameters parameters(1);
  const Linear layer(parameters, "layer", {.input = 3, .output = 2});
  Adam adam(parameters, {});
  const Tensor x = sample({4, 3}, 1);
  Tape tape;
  const Tensor loss = sum(square(layer(x)));
  tape.backward(loss, {.retain = true});
  adam.step();
  CHECK(contains(error_of([&] { tape.backward(loss); }), "was written after it was recorded"));
}

TEST_CASE("retain: a session goes on after the first pass") {
  Parameters parameters(1);
  const Linear layer(parameters, "layer", {.input = 3, .output = 3});
  const Tensor start = parameters.add("start", sample({2, 3}, 1));
  const auto run = [&](bool pass_between) {
    Tape tape;
    StepLinear step(layer, 4, 2);
    const Tensor half = tanh(step(tanh(step(start))));
    if (pass_between) tape.backward(sum(square(half)), {.retain = true});
    const Tensor all = tanh(step(tanh(step(half))));
    tape.backward(pass_between ? sum(all) : sum(all) + sum(square(half)));
  };
  CHECK(difference(gradients_of(parameters, [&] { run(true); }),
                   gradients_of(parameters, [&] { run(false); })) < tolerance);
}
