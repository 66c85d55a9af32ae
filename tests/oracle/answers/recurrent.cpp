// Recurrent layers, by name: at once, step by step, and composed from primitive ops.

#include "core/ops.h"
#include "layers/recurrent/composed.h"
#include "layers/recurrent/step.h"
#include "tests/oracle/answers/instruction.h"

namespace lamina::oracle {

namespace {

RecurrentOptions options_of(const Instruction& in) {
  return {.input = in.size("input"),
          .hidden = in.size("hidden"),
          .norm = norm_named(in.word("norm")).value(),  // an unknown name is no case without a norm
          .only_memory = in.flag("only_memory"),
          .max_steps = in.size("max_steps", 100),
          .clip = in.number("clip", 0),
          .learn_initial = in.flag("learn_initial"),
          .reverse = in.flag("reverse"),
          .condition = in.size("condition"),
          .checkpoint = in.flag("checkpoint"),
          .hidden_initial = normal(1)};
}

/// in: x, mask, initial h, initial c, condition; all but x may be empty.
SequenceOptions sequence_options(const Instruction& in) {
  return {.mask = in.input(1),
          .initial = {.h = in.input(2), .c = in.input(3)},
          .condition = in.input(4),
          .mode = in.flag("evaluate") ? Mode::evaluate : Mode::train};
}

/// The same sequence by a session, one call per step.
Sequence step_by_step(const Instruction& in, const Recurrent& layer, const SequenceOptions& with) {
  const Tensor x = in.input(0);
  const size_t steps = x.shape()[0], rows = x.shape()[1], hidden = layer.options().hidden;
  RecurrentSession session(layer, {.steps = steps, .rows = rows, .mode = with.mode});
  RecurrentState state = with.initial.h.defined() ? with.initial : session.initial();
  std::vector<Tensor> outputs;
  for (size_t t = 0; t < steps; ++t) {
    state = session(x.step(t), state, with.mask.defined() ? with.mask.step(t) : Tensor());
    outputs.push_back(state.h.reshape({1, rows, hidden}));
  }
  return {.hidden = concatenate(outputs, 0), .last = state};
}

template <class Layer>
Sequence run_sequence(const Instruction& in, const Layer& layer) {
  const SequenceOptions with = sequence_options(in);
  const std::string way = in.word("way");
  if (way == "composed") return composed::sequence(layer, in.input(0), with);
  if (way == "steps") return step_by_step(in, layer, with);
  return layer(in.input(0), with);
}

/// out: h of all steps; for an LSTM the last c.
template <class Layer, class... Arguments>
std::vector<Tensor> run(const Instruction& in, Arguments&&... arguments) {
  auto& parameters = in.keep<Parameters>(1);
  auto& layer = in.keep<Layer>(parameters, "layer", options_of(in), std::forward<Arguments>(arguments)...);
  in.adopt(parameters);
  const Sequence sequence = run_sequence(in, layer);
  if (layer.cell().form().memory()) return {sequence.hidden, sequence.last.c};
  return {sequence.hidden};
}

}  // namespace

void add_recurrent(Functions& functions) {
  functions["rnn"] = [](const Instruction& in) {
    return run<Rnn>(in, in.flag("relu") ? relu_cell() : tanh_cell());
  };
  functions["lstm"] = [](const Instruction& in) { return run<Lstm>(in); };
  functions["gru"] = [](const Instruction& in) { return run<Gru>(in); };
}

}  // namespace lamina::oracle
