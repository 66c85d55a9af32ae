#include "layers/recurrent/recurrent.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <memory>

#include "core/gradient_check.h"
#include "core/ops.h"
#include "core/tape.h"
#include "layers/recurrent/composed.h"

using namespace lamina;

namespace {

enum class Kind { tanh, relu, lstm, gru };

/// One configuration of a recurrent layer with its inputs.
struct Case {
  Kind kind = Kind::lstm;
  RecurrentOptions options = {};
  bool masked = false, state_given = false;
  size_t steps = 3, rows = 6;
};

/// A layer of any kind, with its fused and its composed way to run.
struct Layer {
  Parameters parameters{7};
  std::function<Sequence(const Tensor&, const SequenceOptions&)> fused, composed_twin;

  explicit Layer(const Case& c) {
    if (c.kind == Kind::lstm) use<Lstm>(parameters, "lstm", c.options);
    if (c.kind == Kind::gru) use<Gru>(parameters, "gru", c.options);
    if (c.kind == Kind::tanh) use<Rnn>(parameters, "rnn", c.options);
    if (c.kind == Kind::relu) use<Rnn>(parameters, "rnn", c.options, relu_cell());
    // Away from the start values, so that gains, biases and initial states matter.
    for (const auto& [name, value] : parameters.learned()) {
      Tensor jittered = value;
      Tensor noise(value.shape());
      Random random = parameters.random(name + "noise");
      random.fill_normal(noise.data(), noise.size(), 0, real(0.2));
      for (size_t i = 0; i < noise.size(); ++i) jittered[i] += noise[i];
    }
  }

  template <class Kind, class... Arguments>
  void use(Arguments&&... arguments) {
    const auto layer = std::make_shared<Kind>(arguments...);
    fused = [layer](const Tensor& x, const SequenceOptions& with) { return (*layer)(x, with); };
    composed_twin = [layer](const Tensor& x, const SequenceOptions& with) {
      return composed::sequence(*layer, x, with);
    };
  }
};

Tensor random_tensor(const Shape& shape, std::uint64_t seed) {
  Tensor t(shape);
  Random(seed).fill_normal(t.data(), t.size(), 0, 1);
  return t;
}

/// The last rows end early; the first four are full, so that batch norm always has cases to look at.
Tensor some_mask(size_t steps, size_t rows) {
  Tensor mask = Tensor::ones({steps, rows});
  for (size_t r = 4; r < rows; ++r)
    for (size_t t = steps - std::min(r - 3, steps - 1); t < steps; ++t) mask[t * rows + r] = 0;
  return mask;
}

struct Inputs {
  Tensor x, h, c, mask, weights;
};

Inputs inputs_of(const Case& c) {
  const size_t hidden = c.options.hidden;
  Inputs in{.x = random_tensor({c.steps, c.rows, c.options.input}, 1),
            .h = {},
            .c = {},
            .mask = c.masked ? some_mask(c.steps, c.rows) : Tensor(),
            .weights = random_tensor({c.steps, c.rows, hidden}, 2)};
  in.x.require_gradient();
  if (c.state_given) {
    in.h = random_tensor({c.rows, hidden}, 3).require_gradient();
    if (c.kind == Kind::lstm) in.c = random_tensor({c.rows, hidden}, 4).require_gradient();
  }
  return in;
}

/// A loss that every output enters with a weight of its own.
Tensor loss_of(const Inputs& in, const std::function<Sequence(const Tensor&, const SequenceOptions&)>& run) {
  const Sequence s = run(in.x, {.mask = in.mask, .initial = {.h = in.h, .c = in.c}});
  Tensor loss = sum(s.hidden * in.weights) + sum(square(s.last.h));
  return s.last.c.defined() ? loss + sum(s.last.c * s.last.c * real(0.5)) : loss;
}

std::vector<Tensor> leaves(const Layer& layer, const Inputs& in) {
  std::vector<Tensor> all;
  for (const auto& entry : layer.parameters.learned()) all.push_back(entry.value);
  for (const Tensor& t : {in.x, in.h, in.c})
    if (t.defined()) all.push_back(t);
  return all;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Kind kind : {Kind::tanh, Kind::relu, Kind::lstm, Kind::gru})
    for (const Norm norm : {Norm::none, Norm::layer, Norm::batch, Norm::weight})
      for (const bool masked : {false, true})
        for (const int state : {0, 1, 2}) {  // zero, given, learned
          cases.push_back({.kind = kind,
                           .options = {.input = 3,
                                       .hidden = 5,
                                       .norm = norm,
                                       .gain = norm == Norm::batch ? real(0.7) : real(0),
                                       .forget_bias = 1,
                                       .learn_initial = state == 2,
                                       .reverse = masked && state == 1},
                           .masked = masked,
                           .state_given = state == 1});
        }
  for (const Norm norm : {Norm::layer, Norm::batch})
    cases.push_back(
        {.kind = Kind::lstm, .options = {.input = 3, .hidden = 5, .norm = norm, .only_memory = true}});
  return cases;
}

std::string describe(const Case& c) {
  return text("kind ", static_cast<int>(c.kind), ", norm ", name_of(c.options.norm), ", masked ", c.masked,
              ", state given ", c.state_given, ", learned ", c.options.learn_initial, ", reverse ",
              c.options.reverse, ", only memory ", c.options.only_memory);
}

double largest(const Tensor& a) {
  double most = 0;
  for (const real v : a.values()) most = std::max(most, std::fabs(static_cast<double>(v)));
  return most;
}

/// Largest difference of two tensors, relative to `scale`.
double difference(const Tensor& a, const Tensor& b, double scale) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i)
    worst = std::max(worst, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return worst / scale;
}

constexpr double same = sizeof(real) == 8 ? 1e-12 : 2e-4;

}  // namespace

TEST_CASE("recurrent layers equal their composed twins, values and gradients") {
  for (const Case& c : all_cases()) {
    CAPTURE(describe(c));
    Layer layer(c);
    const Inputs in = inputs_of(c);
    std::vector<Tensor> gradients[2], losses;
    for (const bool fused : {true, false}) {
      for (Tensor& leaf : leaves(layer, in)) leaf.clear_gradient();
      Tape tape;
      const Tensor loss = loss_of(in, fused ? layer.fused : layer.composed_twin);
      losses.push_back(loss.copy());
      tape.backward(loss);
      for (const Tensor& leaf : leaves(layer, in)) gradients[fused ? 0 : 1].push_back(leaf.gradient());
    }
    CHECK(difference(losses[0], losses[1], largest(losses[0])) < same);
    double scale = 0;  // some gradients are zero: batch norm takes out what all cases share
    for (const Tensor& gradient : gradients[0]) scale = std::max(scale, largest(gradient));
    for (size_t i = 0; i < gradients[0].size(); ++i) {
      CAPTURE(i);
      CHECK(difference(gradients[0][i], gradients[1][i], scale) < same);
    }
  }
}

#ifdef LAMINA_DOUBLE
TEST_CASE("gradients of recurrent layers") {
  for (const Case& c : all_cases()) {
    CAPTURE(describe(c));
    Layer layer(c);
    const Inputs in = inputs_of(c);
    const GradientCheck check = check_gradient(
        leaves(layer, in), [&] { return loss_of(in, layer.fused); }, 1e-4);
    CAPTURE(check.where);
    CHECK(check.worst_error < 1e-6);
  }
}
#endif
