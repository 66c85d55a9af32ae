// Recurrent layers conditioned on a vector at every step.

#include "tests/layers/recurrent/recurrent_cases.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// The same with the condition v.
Run conditioned(const Run& run, const Tensor& v) {
  return [=](const Tensor& x, const SequenceOptions& with) {
    SequenceOptions more = with;
    more.condition = v;
    return run(x, more);
  };
}

std::vector<Case> conditioned_cases() {
  std::vector<Case> cases;
  for (Case c : all_cases()) {
    const Norm norm = c.options.norm;
    if ((c.kind != Kind::gru && c.kind != Kind::lstm) || (norm != Norm::none && norm != Norm::layer))
      continue;
    c.options.condition = 4;
    cases.push_back(c);
  }
  return cases;
}

}  // namespace

TEST_CASE("a condition: the layer equals its composed twin, and gradients are right") {
  for (const Case& c : conditioned_cases()) {
    CAPTURE(describe(c));
    AnyLayer layer(c);
    const Inputs in = inputs_of(c);
    const Tensor v = random_tensor({c.rows, 4}, 5).require_gradient();
    const Run run = conditioned(layer.fused, v);
    check_same(layer, in, run, conditioned(layer.composed_twin, v));
    std::vector<Tensor> all = leaves(layer, in);
    all.push_back(v);
    check_gradients(
        all, [&] { return loss_of(in, run); }, 1e-4);
  }
}

TEST_CASE("a condition: long sequences, which run in pieces") {
  const Case c{.kind = Kind::gru,
               .options = {.input = 2, .hidden = 3, .norm = Norm::layer, .condition = 4},
               .steps = 260,
               .rows = 2};
  AnyLayer layer(c);
  const Inputs in = inputs_of(c);
  Tensor v = random_tensor({c.rows, 4}, 5).require_gradient();
  const auto gradient_of_v = [&](const Run& run) {
    v.clear_gradient();
    Tape tape;
    tape.backward(loss_of(in, conditioned(run, v)));
    return v.gradient();
  };
  const Tensor fused = gradient_of_v(layer.fused), composed = gradient_of_v(layer.composed_twin);
  CHECK(difference_in(fused, composed, largest(composed)) < same);
}

TEST_CASE("a condition: what it adds to the x part of a GRU") {
  Parameters parameters(1);
  const Gru gru(parameters, "gru", {.input = 2, .hidden = 3, .condition = 4});
  const Tensor v = random_tensor({5, 4}, 5), x = Tensor::zeros({1, 5, 2});
  // The same as an input of width 4 whose weight is C, in the first step.
  const Tensor hidden = gru(x, {.condition = v}).hidden;
  Parameters others(1);
  Gru other(others, "gru", {.input = 4, .hidden = 3});
  std::ranges::copy(gru.condition_weight.values(), other.input_weight.data());
  std::ranges::copy(gru.hidden_weight.values(), other.hidden_weight.data());
  CHECK(difference(hidden, other(v.reshape({1, 5, 4})).hidden) < 8 * ulp);
}

TEST_CASE("a condition: errors") {
  Parameters parameters(1);
  const Gru gru(parameters, "gru", {.input = 2, .hidden = 3, .condition = 4});
  const Tensor x = Tensor::zeros({1, 5, 2});
  CHECK_ERROR(gru(x), "recurrent 'gru': the condition is missing; [5 x 4] is needed");
  CHECK_ERROR(gru(x, {.condition = Tensor::zeros({4, 4})}),
              "recurrent 'gru': the condition is [4 x 4]; [5 x 4] is needed");
  CHECK_ERROR(
      Gru(parameters, "a", {.input = 2, .hidden = 3, .norm = Norm::batch, .condition = 4}),
      "recurrent 'a': a condition is for an LSTM or GRU without checkpoints, and with norm none or layer");
  CHECK_ERROR(RecurrentSession(gru, {.steps = 1, .rows = 5}),
              "recurrent session: the layer has a condition, which only whole sequences take");
}
