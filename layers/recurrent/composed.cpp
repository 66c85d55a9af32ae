#include "layers/recurrent/composed.h"

#include <vector>

#include "core/ops.h"
#include "layers/norms/layer_norm.h"
#include "layers/norms/masked_batch_norm.h"

namespace lamina::composed {

namespace {

/// Columns of gate k.
Tensor gate(const Tensor& all, size_t k, size_t hidden) {
  return slice(all, -1, k * hidden, (k + 1) * hidden);
}

/// N(a) for one step, a [B x width].
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

/// Summed inputs, with clipped gradients if the layer asks for it.
Tensor clipped(const Recurrent& layer, const Tensor& a) {
  return layer.options().clip > 0 ? clip_gradient(a, layer.options().clip) : a;
}

/// N(W_x x + b) + N(C v)
Tensor x_part(const Recurrent& layer, const Tensor& x, const StepOptions& with) {
  const Tensor product = matmul(x, layer.effective_input_weight());
  Tensor part =
      normalize(layer.input_norm, layer.bias.defined() ? product + layer.bias : product, with.counted);
  if (!with.condition.defined()) return part;
  return part + normalize(layer.condition_norm, matmul(with.condition, layer.condition_weight), {});
}

/// W_h h
Tensor hidden_part(const Recurrent& layer, const RecurrentState& before) {
  return matmul(before.h, layer.effective_hidden_weight());
}

/// The new state where the mask is 1, the old one where it is 0.
Tensor choose(const Tensor& mask, const Tensor& after, const Tensor& before) {
  return mask.defined() ? after * mask + before * (1 - mask) : after;
}

/// (f, i, o, g) = N(W_h h) + x part;  c' = sig(f) c + sig(i) tanh(g);  h' = sig(o) tanh(N(c'))
RecurrentState lstm_step(const Recurrent& layer, const Tensor& x, const RecurrentState& before,
                         const StepOptions& with) {
  const size_t hidden = layer.options().hidden;
  const Tensor a = clipped(
      layer, normalize(layer.hidden_norm, hidden_part(layer, before), with.counted) + x_part(layer, x, with));
  const Tensor f = sigmoid(gate(a, 0, hidden)), i = sigmoid(gate(a, 1, hidden));
  const Tensor o = sigmoid(gate(a, 2, hidden)), g = tanh(gate(a, 3, hidden));
  const Tensor c = choose(with.live, f * before.c + i * g, before.c);
  return {.h = choose(with.live, o * tanh(normalize(layer.memory_norm, c, with.counted)), before.h), .c = c};
}

/// (z, r) = N(W_h h) + x part;  n = tanh(x part + sig(r) N(U h));  h' = (1 - sig(z)) h + sig(z) n
RecurrentState gru_step(const Recurrent& layer, const Tensor& x, const RecurrentState& before,
                        const StepOptions& with) {
  const size_t hidden = layer.options().hidden;
  const Tensor s = normalize(layer.hidden_norm, hidden_part(layer, before), with.counted);
  const Tensor a = x_part(layer, x, with);
  const Tensor z = sigmoid(clipped(layer, gate(s, 0, hidden) + gate(a, 0, hidden)));
  const Tensor r = sigmoid(clipped(layer, gate(s, 1, hidden) + gate(a, 1, hidden)));
  const Tensor n = tanh(clipped(layer, gate(a, 2, hidden)) + r * clipped(layer, gate(s, 2, hidden)));
  return {.h = choose(with.live, (1 - z) * before.h + z * n, before.h), .c = {}};
}

/// h' = f(N(W_h h + x part))
RecurrentState simple_step(const Recurrent& layer, const Tensor& x, const RecurrentState& before,
                           const StepOptions& with) {
  const Tensor a = clipped(
      layer, normalize(layer.hidden_norm, hidden_part(layer, before) + x_part(layer, x, with), with.counted));
  const Tensor h = &layer.cell() == &relu_cell() ? relu(a) : tanh(a);
  return {.h = choose(with.live, h, before.h), .c = {}};
}

}  // namespace

RecurrentState step(const Recurrent& layer, const Tensor& x, const RecurrentState& before,
                    const StepOptions& with) {
  const Cell* const cell = &layer.cell();
  if (cell == &lstm_cell()) return lstm_step(layer, x, before, with);
  if (cell == &gru_cell()) return gru_step(layer, x, before, with);
  if (cell == &tanh_cell() || cell == &relu_cell()) return simple_step(layer, x, before, with);
  fail("composed::step: '", layer.name(),
       "' has another cell than tanh, relu, LSTM's and GRU's, which are all that is written here");
}

Sequence sequence(const Recurrent& layer, const Tensor& x, const SequenceOptions& with) {
  const size_t steps = x.shape()[0], rows = x.shape()[1];
  const Tensor everyone = Tensor::ones({rows, 1}), zeros = Tensor::zeros({rows, layer.options().hidden});
  const auto start = [&](const Tensor& given, const Tensor& learned) {
    return given.defined() ? given : learned.defined() ? zeros + learned : zeros;
  };
  RecurrentState state{.h = start(with.initial.h, layer.initial_h),
                       .c = start(with.initial.c, layer.initial_c)};
  std::vector<Tensor> outputs(steps);
  for (size_t i = 0; i < steps; ++i) {
    const size_t t = layer.options().reverse ? steps - 1 - i : i;
    const Tensor mask = with.mask.defined() ? with.mask.step(t).reshape({rows, 1}) : everyone;
    state = step(layer, x.step(t), state,
                 {.live = mask, .counted = with.count_padded ? everyone : mask, .condition = with.condition});
    outputs[t] = state.h.reshape({1, rows, state.h.columns()});
  }
  return {.hidden = concatenate(outputs, 0), .last = state};
}

}  // namespace lamina::composed
