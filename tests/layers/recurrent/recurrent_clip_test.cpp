// Bounds on the derivatives of summed inputs: the three ways to run a layer agree on them.

#include "tests/layers/recurrent/recurrent_cases.h"

using namespace lamina;
using namespace lamina::test;

TEST_CASE("recurrent layers: clipped derivatives are those of the composed twin") {
  for (Case c : all_cases()) {
    c.options.clip = real(0.05);
    CAPTURE(describe(c));
    const AnyLayer layer(c);
    const Inputs in = inputs_of(c);
    check_same(layer, in, layer.fused, layer.composed_twin);
    if (!c.options.reverse) check_same(layer, in, layer.step_by_step, layer.composed_twin);
  }
}

TEST_CASE("recurrent layers: a bound that is reached makes a difference, a wide one none") {
  Case c{.options = {.input = 3, .hidden = 5}};
  const auto gradients = [&](real clip) {
    c.options.clip = clip;
    const AnyLayer layer(c);
    return loss_and_gradients(layer, inputs_of(c), layer.fused)[1];  // of the input weight
  };
  const Tensor free = gradients(0);
  CHECK(identical(gradients(1000), free));
  CHECK(largest(gradients(real(0.01))) < largest(free));
}

TEST_CASE("recurrent layers: a negative bound, and one that is no number, are refused") {
  Parameters parameters(1);
  const auto error = [&](real clip) {
    return error_of([&] { Rnn(parameters, "rnn", {.input = 3, .hidden = 5, .clip = clip}); });
  };
  CHECK(error(-1) == "recurrent 'rnn': clip is -1; a positive bound is needed, or 0 for none");
  CHECK(contains(error(std::numeric_limits<real>::quiet_NaN()), "a positive bound is needed"));
}
