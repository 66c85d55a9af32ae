// The three ways to run a recurrent layer agree, and their gradients are right.

#include <type_traits>

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

namespace {

/// A layer without a norm, whose projections are overwritten by the forward pass, or with one, where the backward pass
/// does it.
struct Projecting {
  Parameters parameters{1};
  Rnn rnn;
  Tensor x = leaf({4, 3, 2}, 1);
  explicit Projecting(Norm norm) : rnn(parameters, "rnn", {.input = 2, .hidden = 3, .norm = norm}) {}

  Tensor of_projected(const Tensor& projected) const {
    return weighted(rnn.from_projected(projected).hidden);
  }
  Tensor whole(const Tensor& input) const { return weighted(rnn(input).hidden); }
};

/// The gradients of x and of all parameters.
std::vector<Tensor> gradients_of(Projecting& layer, const std::function<Tensor()>& loss) {
  layer.x.clear_gradient();
  layer.parameters.clear_gradients();
  Tape tape;
  tape.backward(loss());
  std::vector<Tensor> all{layer.x.gradient()};
  for (const auto& entry : layer.parameters.learned()) all.push_back(entry.value.gradient());
  return all;
}

void check_all_equal(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  for (size_t i = 0; i < a.size(); ++i) CHECK(difference(a[i], b[i]) < same);
}

}  // namespace

TEST_CASE("parts of a projection, and one that an earlier op needs, are left as they are") {
  for (const Norm norm : {Norm::none, Norm::layer}) {
    Projecting layer(norm);
    const auto two_parts = [&] {
      const Tensor p = layer.rnn.project(layer.x);
      return layer.of_projected(p.slice(0, 2)) + layer.of_projected(p.slice(2, 4)) +
             layer.of_projected(p.slice(1, 3));
    };
    check_all_equal(gradients_of(layer, two_parts), gradients_of(layer, [&] {
                      return layer.whole(layer.x.slice(0, 2)) + layer.whole(layer.x.slice(2, 4)) +
                             layer.whole(layer.x.slice(1, 3));
                    }));
    const auto used_before = [&] {
      const Tensor p = layer.rnn.project(layer.x), squares = sum(square(p));
      return squares + layer.of_projected(p);
    };
    check_all_equal(gradients_of(layer, used_before), gradients_of(layer, [&] {
                      return sum(square(layer.rnn.project(layer.x))) + layer.whole(layer.x);
                    }));
    const auto detached_before = [&] {
      const Tensor p = layer.rnn.project(layer.x), products = sum(p.detach() * layer.rnn.project(layer.x));
      return products + layer.of_projected(p);
    };
    check_all_equal(gradients_of(layer, detached_before), gradients_of(layer, [&] {
                      const Tensor p = layer.rnn.project(layer.x);
                      return sum(p.detach() * p) + layer.whole(layer.x);
                    }));
  }
}

TEST_CASE("a projection whose own op needs it again is left as it is") {
  for (const Norm norm : {Norm::none, Norm::layer})
    for (const auto& map :
         {+[](const Tensor& p) { return tanh(p); }, +[](const Tensor& p) { return exp(p); }}) {
      Projecting layer(norm);
      check_all_equal(
          gradients_of(layer, [&] { return layer.of_projected(map(layer.rnn.project(layer.x))); }),
          gradients_of(layer, [&] { return layer.of_projected(map(layer.rnn.project(layer.x)) * real(1)); }));
    }
}

TEST_CASE("a projection may be looked at before a layer consumes it") {
  for (const Norm norm : {Norm::none, Norm::layer}) {
    Projecting layer(norm);
    const auto loss = [&](bool looked_at) {
      Tensor p = layer.rnn.project(layer.x);
      if (looked_at) CHECK(p[0] == p.step(0)[0]);
      return layer.of_projected(p);
    };
    check_all_equal(gradients_of(layer, [&] { return loss(true); }),
                    gradients_of(layer, [&] { return loss(false); }));
  }
}

TEST_CASE("a projection that is a leaf keeps its values and adds up its gradients") {
  for (const Norm norm : {Norm::none, Norm::layer}) {
    Projecting layer(norm);
    const Tensor p = leaf({4, 3, 3}, 2), before = p.copy();
    std::vector<Tensor> gradients;
    for (int pass = 0; pass < 2; ++pass) {
      Tape tape;
      tape.backward(layer.of_projected(p));
      gradients.push_back(p.gradient());
      CHECK(identical(p, before));
    }
    CHECK(difference(gradients[1], gradients[0] * 2) < same);
  }
}

TEST_CASE("a projection that is a constant keeps its values") {
  for (const Norm norm : {Norm::none, Norm::layer})
    for (const bool learns : {false, true}) {
      Projecting layer(norm);
      if (!learns) layer.parameters.freeze("");
      const Tensor p = sample({4, 3, 3}, 2), before = p.copy(), expected = layer.rnn.from_projected(p).hidden;
      for (int pass = 0; pass < 2; ++pass) {
        Tape tape;
        const Tensor hidden = layer.rnn.from_projected(p).hidden;
        CHECK(identical(hidden, expected));
        if (learns) tape.backward(weighted(hidden));
        CHECK(identical(p, before));
      }
    }
}

TEST_CASE("a projection that was consumed is refused, in the forward pass or in the backward pass") {
  for (const Norm norm : {Norm::none, Norm::layer}) {
    const Projecting layer(norm);
    Tape tape;
    const Tensor p = layer.rnn.project(layer.x), q = layer.rnn.project(layer.x);
    const Tensor first = layer.of_projected(p);
    CHECK_ERROR(
        layer.of_projected(p),
        "recurrent 'rnn': the projection [4 x 3 x 3] has been consumed by an earlier sequence; project(x) "
        "again for this one");
    const Tensor second = layer.of_projected(q), later = sum(square(q));
    CHECK_ERROR(
        tape.backward(first + second + later),
        "recurrence: the projected inputs [4 x 3 x 3] were used again after the layer had consumed them; "
        "project x once more for the other use");
  }
}

TEST_CASE("a projection is left as it is where no tape records") {
  for (const Norm norm : {Norm::none, Norm::layer}) {
    Projecting layer(norm);
    const auto squares = [&](bool looked_at) {
      const Tensor p = layer.rnn.project(layer.x), loss = sum(square(p));
      if (!looked_at) return loss;
      const Tape::Pause pause;
      const Tensor first = layer.rnn.from_projected(p).hidden, again = layer.rnn.from_projected(p).hidden;
      CHECK(identical(first, again));
      CHECK(identical(first, layer.rnn(layer.x).hidden));
      return loss;
    };
    check_all_equal(gradients_of(layer, [&] { return squares(true); }),
                    gradients_of(layer, [&] { return squares(false); }));
  }
}

TEST_CASE("a recurrent layer that is refused leaves no parameters behind") {
  Parameters parameters(1);
  const RecurrentOptions zeros = {
      .input = 2, .hidden = 3, .norm = Norm::weight, .hidden_initial = constant(0)};
  CHECK_THROWS_AS(Lstm(parameters, "lstm", zeros), Error);
  CHECK(parameters.learned().empty());
}

TEST_CASE("a recurrent layer takes no temporary as its cell") {
  static_assert(std::is_constructible_v<Recurrent, Parameters&, std::string, const Cell&, RecurrentOptions>);
  static_assert(!std::is_constructible_v<Recurrent, Parameters&, std::string, Cell&&, RecurrentOptions>);
  static_assert(!std::is_constructible_v<Rnn, Parameters&, std::string, RecurrentOptions, Cell&&>);
}

TEST_CASE("each gate's hidden weights are drawn for themselves") {
  Parameters parameters(1);
  const Lstm lstm(parameters, "lstm", {.input = 2, .hidden = 3});
  const auto of_gate = [&](size_t gate) {
    return slice(lstm.hidden_weight, 1, 3 * gate, 3 * gate + 3).copy();
  };
  for (size_t gate = 1; gate < 4; ++gate)
    for (size_t other = 0; other < gate; ++other) CHECK(difference(of_gate(gate), of_gate(other)) > 0.01);
}
