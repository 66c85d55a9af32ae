// The three ways to run a recurrent layer agree, and their gradients are right.

#include "tests/layers/recurrent/recurrent_cases.h"

using namespace lamina;
using namespace lamina::test;

TEST_CASE("recurrent layers equal their composed twins, values and gradients") {
  for (const Case& c : all_cases()) {
    CAPTURE(describe(c));
    AnyLayer layer(c);
    check_same(layer, inputs_of(c), layer.fused, layer.composed_twin);
  }
}

TEST_CASE("a session equals the layer over the whole sequence, values and gradients") {
  for (Case c : all_cases()) {
    c.options.reverse = false;
    CAPTURE(describe(c));
    AnyLayer layer(c);
    check_same(layer, inputs_of(c), layer.step_by_step, layer.fused);
  }
}

TEST_CASE("a sequence from inputs projected before equals the layer, values and gradients") {
  for (const Case& c : all_cases()) {
    CAPTURE(describe(c));
    AnyLayer layer(c);
    const Recurrent& recurrent = *layer.recurrent;
    const auto from_projected = [&](const Tensor& x, const SequenceOptions& with) {
      return recurrent.from_projected(recurrent.project(x), with);
    };
    check_same(layer, inputs_of(c), from_projected, layer.fused);
  }
}

TEST_CASE("projected inputs of another width are refused") {
  Parameters parameters(1);
  const Gru gru(parameters, "gru", {.input = 3, .hidden = 4});
  CHECK_THROWS_WITH_AS(gru.from_projected(Tensor::zeros({2, 5, 3})),
                       "recurrent 'gru': the input is [2 x 5 x 3]; [T x B x 12] is needed", Error);
}

#ifdef LAMINA_DOUBLE
TEST_CASE("gradients of recurrent layers") {
  for (const Case& c : all_cases()) {
    CAPTURE(describe(c));
    AnyLayer layer(c);
    const Inputs in = inputs_of(c);
    const GradientCheck check = check_gradient(
        leaves(layer, in), [&] { return loss_of(in, layer.fused); }, 1e-4);
    CAPTURE(check.where);
    CHECK(check.worst_error < 1e-6);
  }
}
#endif
