#include "layers/recurrent/composed.h"

#include <vector>

#include "core/ops.h"
#include "layers/layer_norm.h"
#include "layers/masked_batch_norm.h"

namespace lamina::composed {

namespace {

/// Columns of gate k.
Tensor gate(const Tensor& all, size_t k, size_t hidden) {
  return slice(all, -1, k * hidden, (k + 1) * hidden);
}

}  // namespace

Tensor normalize(const StepNormParameters& norm, const Tensor& a, const Tensor& mask) {
  if (norm.norm == Norm::none) return a;
  if (norm.norm == Norm::batch) return masked_batch_norm(a, mask, norm.gain, norm.bias, norm.epsilon);
  const auto [first, second] = norm.segments;
  const auto segment = [&](size_t begin, size_t end) {
    return composed::layer_norm(slice(a, -1, begin, end), slice(norm.gain, -1, begin, end),
                                slice(norm.bias, -1, begin, end), norm.epsilon);
  };
  return second == 0 ? segment(0, first)
                     : lamina::concatenate({segment(0, first), segment(first, first + second)}, -1);
}

namespace {

/// Summed inputs, whose gradients are kept small if the layer wants that.
Tensor clipped(const Recurrent& layer, const Tensor& a) {
  return layer.options().clip > 0 ? clip_gradient(a, layer.options().clip) : a;
}

/// The new state where the mask is 1, the old one where it is 0.
Tensor choose(const Tensor& mask, const Tensor& after, const Tensor& before) {
  return after * mask + before * (1 - mask);
}

template <class Layer, class Step>
Sequence unroll(const Layer& layer, const Tensor& x, const SequenceOptions& with, const Step& step) {
  const size_t steps = x.shape()[0], rows = x.shape()[1], hidden = layer.options().hidden;
  const Tensor everyone = Tensor::ones({rows, 1}), zeros = Tensor::zeros({rows, hidden});
  const auto start = [&](const Tensor& given, const Tensor& learned) {
    return given.defined() ? given : learned.defined() ? zeros + learned : zeros;
  };
  RecurrentState state{.h = start(with.initial.h, layer.initial_h),
                       .c = start(with.initial.c, layer.initial_c)};
  std::vector<Tensor> outputs(steps);
  for (size_t i = 0; i < steps; ++i) {
    const size_t t = layer.options().reverse ? steps - 1 - i : i;
    const Tensor mask = with.mask.defined() ? with.mask.step(t).reshape({rows, 1}) : everyone;
    const StepCases cases{.live = mask, .counted = with.count_padded ? everyone : mask};
    Tensor x_t = normalize(layer.input_norm, layer.project(x.step(t)), cases.counted);
    if (with.condition.defined()) x_t = x_t + layer.project_condition(with.condition);
    state = step(layer, x_t, state, cases);
    outputs[t] = state.h.reshape({1, rows, hidden});
  }
  return {.hidden = concatenate(outputs, 0), .last = state};
}

}  // namespace

/// (f, i, o, g) = N(W_h h) + x part;  c' = sig(f) c + sig(i) tanh(g);  h' = sig(o) tanh(N(c'))
RecurrentState lstm_step(const Lstm& layer, const Tensor& x_part, const RecurrentState& before,
                         const StepCases& cases) {
  const size_t hidden = layer.options().hidden;
  const Tensor a = clipped(
      layer, normalize(layer.hidden_norm, matmul(before.h, layer.effective_hidden_weight()), cases.counted) +
                 x_part);
  const Tensor f = sigmoid(gate(a, 0, hidden)), i = sigmoid(gate(a, 1, hidden));
  const Tensor o = sigmoid(gate(a, 2, hidden)), g = tanh(gate(a, 3, hidden));
  const Tensor c = choose(cases.live, f * before.c + i * g, before.c);
  return {.h = choose(cases.live, o * tanh(normalize(layer.memory_norm, c, cases.counted)), before.h),
          .c = c};
}

/// (z, r) = N(W_h h) + x part;  n = tanh(x part + sig(r) N(U h));  h' = (1 - sig(z)) h + sig(z) n
RecurrentState gru_step(const Gru& layer, const Tensor& x_part, const RecurrentState& before,
                        const StepCases& cases) {
  const size_t hidden = layer.options().hidden;
  const Tensor s =
      normalize(layer.hidden_norm, matmul(before.h, layer.effective_hidden_weight()), cases.counted);
  const Tensor z = sigmoid(clipped(layer, gate(s, 0, hidden) + gate(x_part, 0, hidden)));
  const Tensor r = sigmoid(clipped(layer, gate(s, 1, hidden) + gate(x_part, 1, hidden)));
  const Tensor n = tanh(clipped(layer, gate(x_part, 2, hidden)) + r * clipped(layer, gate(s, 2, hidden)));
  return {.h = choose(cases.live, (1 - z) * before.h + z * n, before.h), .c = {}};
}

/// h' = f(N(W_h h + x part))
RecurrentState rnn_step(const Rnn& layer, const Tensor& x_part, const RecurrentState& before,
                        const StepCases& cases) {
  const Tensor a =
      clipped(layer, normalize(layer.hidden_norm, matmul(before.h, layer.effective_hidden_weight()) + x_part,
                               cases.counted));
  const Tensor h = &layer.cell() == &relu_cell() ? relu(a) : tanh(a);
  return {.h = choose(cases.live, h, before.h), .c = {}};
}

Sequence sequence(const Lstm& layer, const Tensor& x, const SequenceOptions& with) {
  return unroll(layer, x, with, lstm_step);
}

Sequence sequence(const Gru& layer, const Tensor& x, const SequenceOptions& with) {
  return unroll(layer, x, with, gru_step);
}

Sequence sequence(const Rnn& layer, const Tensor& x, const SequenceOptions& with) {
  return unroll(layer, x, with, rnn_step);
}

}  // namespace lamina::composed
