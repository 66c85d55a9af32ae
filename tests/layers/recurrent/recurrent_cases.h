#pragma once
// What the tests of recurrent layers share: every kind of layer with every option, its inputs, and its three
// ways to run.

#include <memory>

#include "layers/recurrent/composed.h"
#include "layers/recurrent/step.h"
#include "tests/check.h"

namespace lamina::test {

enum class Kind { tanh, relu, lstm, gru };
inline constexpr Kind all_kinds[] = {Kind::tanh, Kind::relu, Kind::lstm, Kind::gru};
/// Where tanh may stand for both simple cells.
inline constexpr Kind kinds_but_relu[] = {Kind::tanh, Kind::lstm, Kind::gru};

/// use.operator()<Layer>(more arguments of its constructor...) for the class of that kind.
template <class Use>
void with_class(Kind kind, const Use& use) {
  switch (kind) {
    case Kind::tanh:
      return use.template operator()<Rnn>();
    case Kind::relu:
      return use.template operator()<Rnn>(relu_cell());
    case Kind::lstm:
      return use.template operator()<Lstm>();
    case Kind::gru:
      return use.template operator()<Gru>();
  }
}

/// One configuration of a recurrent layer with its inputs.
struct Case {
  Kind kind = Kind::lstm;
  RecurrentOptions options = {};
  bool masked = false, state_given = false;
  size_t steps = 3, rows = 6;
};

/// The sequence through a session, one step per call.
inline Sequence run_steps(const Recurrent& layer, const Tensor& x, const SequenceOptions& with) {
  const size_t steps = x.shape()[0], rows = x.shape()[1];
  RecurrentSession session(layer, {.steps = steps, .rows = rows, .mode = with.mode});
  RecurrentState state = session.initial();
  if (with.initial.h.defined()) state.h = with.initial.h;
  if (with.initial.c.defined()) state.c = with.initial.c;
  std::vector<Tensor> outputs;
  for (size_t t = 0; t < steps; ++t) {
    state = session(x.step(t), state, with.mask.defined() ? with.mask.step(t) : Tensor());
    outputs.push_back(state.h.reshape({1, rows, layer.options().hidden}));
  }
  return {.hidden = concatenate(outputs, 0), .last = state};
}

/// A layer of any kind, with its three ways to run.
struct AnyLayer {
  Parameters parameters{7};
  std::function<Sequence(const Tensor&, const SequenceOptions&)> fused, composed_twin, step_by_step;
  std::shared_ptr<Recurrent> recurrent;

  explicit AnyLayer(const Case& c) {
    with_class(c.kind, [&]<class Layer>(const auto&... cell) {
      use<Layer>(parameters, "layer", c.options, cell...);
    });
    move_parameters();
  }

  /// For a cell without composed twin.
  AnyLayer(const Case& c, const Cell& cell) {
    use_recurrent(std::make_shared<Recurrent>(parameters, "own", cell, c.options));
    move_parameters();
  }

  /// Moves parameters away from their initial values, so that gains, biases and initial states matter.
  void move_parameters() {
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
    use_recurrent(layer);
    composed_twin = [layer](const Tensor& x, const SequenceOptions& with) {
      return composed::sequence(*layer, x, with);
    };
  }

  void use_recurrent(const std::shared_ptr<Recurrent>& layer) {
    fused = [layer](const Tensor& x, const SequenceOptions& with) { return (*layer)(x, with); };
    step_by_step = [layer](const Tensor& x, const SequenceOptions& with) {
      return run_steps(*layer, x, with);
    };
    recurrent = layer;
  }
};

inline Tensor random_tensor(const Shape& shape, std::uint64_t seed) {
  Tensor t(shape);
  Random(seed).fill_normal(t.data(), t.size(), 0, 1);
  return t;
}

/// The last rows end early; the first four are full, so that batch norm always has cases for its statistics.
inline Tensor some_mask(size_t steps, size_t rows) {
  Tensor mask = Tensor::ones({steps, rows});
  for (size_t r = 4; r < rows; ++r)
    for (size_t t = steps - std::min(r - 3, steps - 1); t < steps; ++t) mask[t * rows + r] = 0;
  return mask;
}

struct Inputs {
  Tensor x, h, c, mask, weights;
};

inline Inputs inputs_of(const Case& c) {
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

/// A loss in which every output has a different weight.
inline Tensor loss_of(const Inputs& in,
                      const std::function<Sequence(const Tensor&, const SequenceOptions&)>& run) {
  const Sequence s = run(in.x, {.mask = in.mask, .initial = {.h = in.h, .c = in.c}});
  Tensor loss = sum(s.hidden * in.weights) + sum(square(s.last.h));
  return s.last.c.defined() ? loss + sum(s.last.c * s.last.c * real(0.5)) : loss;
}

inline std::vector<Tensor> leaves(const AnyLayer& layer, const Inputs& in) {
  std::vector<Tensor> all;
  for (const auto& entry : layer.parameters.learned()) all.push_back(entry.value);
  for (const Tensor& t : {in.x, in.h, in.c})
    if (t.defined()) all.push_back(t);
  return all;
}

using Run = std::function<Sequence(const Tensor&, const SequenceOptions&)>;

/// The loss and the gradient of every leaf.
inline std::vector<Tensor> loss_and_gradients(const AnyLayer& layer, const Inputs& in, const Run& run) {
  for (Tensor& leaf : leaves(layer, in)) leaf.clear_gradient();
  Tape tape;
  const Tensor loss = loss_of(in, run);
  std::vector<Tensor> results{loss.copy()};
  tape.backward(loss);
  for (const Tensor& leaf : leaves(layer, in)) results.push_back(leaf.gradient());
  return results;
}

inline std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Kind kind : all_kinds)
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

inline std::string describe(const Case& c) {
  return text("kind ", static_cast<int>(c.kind), ", norm ", name_of(c.options.norm), ", masked ", c.masked,
              ", state given ", c.state_given, ", learned ", c.options.learn_initial, ", reverse ",
              c.options.reverse, ", only memory ", c.options.only_memory);
}

inline double largest(const Tensor& a) {
  double most = 0;
  for (const real v : a.values()) most = std::max(most, std::fabs(static_cast<double>(v)));
  return most;
}

/// Largest difference of two tensors, relative to `scale`.
inline double difference_in(const Tensor& a, const Tensor& b, double scale) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i)
    worst = std::max(worst, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return worst / scale;
}

inline constexpr double same = sizeof(real) == 8 ? 1e-12 : 2e-4;

/// Both ways give the same loss and the same gradients.
inline void check_same(const AnyLayer& layer, const Inputs& in, const Run& run, const Run& other) {
  const auto ours = loss_and_gradients(layer, in, run), theirs = loss_and_gradients(layer, in, other);
  CHECK(difference_in(ours[0], theirs[0], largest(ours[0])) < same);
  double scale = 0;  // some gradients are zero: batch norm removes what all cases share
  for (size_t i = 1; i < ours.size(); ++i) scale = std::max(scale, largest(ours[i]));
  for (size_t i = 1; i < ours.size(); ++i) {
    CAPTURE(i);
    CHECK(difference_in(ours[i], theirs[i], scale) < same);
  }
}

}  // namespace lamina::test
