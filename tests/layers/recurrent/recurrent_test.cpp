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
