#include "layers/recurrent/recurrent.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/listener.h"
#include "core/ops.h"
#include "core/ops/map.h"
#include "layers/norms/layer_norm.h"
#include "layers/norms/weight_norm.h"
#include "layers/recurrent/fused/recurrence.h"

namespace lamina {

namespace {

/// Long sequences are run in pieces of this many steps, with or without checkpointing, so that both give the
/// same gradients bit for bit.
size_t piece_length(size_t steps) {
  constexpr size_t whole = 256, least = 64;
  if (steps <= whole) return steps;
  return std::max(least, static_cast<size_t>(std::ceil(std::sqrt(static_cast<double>(steps)))));
}

/// [H x gates H], each gate's square matrix drawn independently.
Tensor gate_by_gate(const Initializer& initial, const std::string& parameter, size_t hidden, size_t gates,
                    const Random& random) {
  Tensor weight({hidden, gates * hidden});
  for (size_t gate = 0; gate < gates; ++gate) {
    const Tensor square = initial_values(initial, parameter, {hidden, hidden}, random.split(gate));
    for (size_t r = 0; r < hidden; ++r)
      std::copy_n(square.data() + r * hidden, hidden, weight.data() + (r * gates + gate) * hidden);
  }
  return weight;
}

void require_options(const std::string& name, const CellForm& form, const RecurrentOptions& chosen) {
  if (chosen.input == 0 || chosen.hidden == 0)
    fail("recurrent '", name, "': ", chosen.input, " inputs and ", chosen.hidden,
         " hidden units; both must be positive");
  if (!(chosen.clip >= 0))
    fail("recurrent '", name, "': clip is ", chosen.clip, "; a positive bound is needed, or 0 for none");
  if (chosen.norm == Norm::batch && chosen.max_steps == 0)
    fail("recurrent '", name,
         "': max_steps is 0; batch norm needs population statistics of at least one step");
  require_norm("recurrent '" + name + "'", chosen.norm, {Norm::none, Norm::layer, Norm::batch, Norm::weight});
  if (chosen.norm == Norm::weight && chosen.gain != 0)
    fail("recurrent '", name, "': a gain of ", chosen.gain,
         " under weight norm, whose gains start as the lengths of the weight vectors; leave it out");
  if (chosen.only_memory && (!form.memory() || chosen.norm == Norm::weight))
    fail("recurrent '", name, "': only_memory is for an LSTM under layer or batch norm");
  if (chosen.checkpoint && chosen.norm == Norm::batch)
    fail("recurrent '", name,
         "': checkpointing would move batch norm's population statistics twice; switch it off");

  if (chosen.condition > 0 &&
      (form.joint || chosen.checkpoint || (chosen.norm != Norm::none && chosen.norm != Norm::layer)))
    fail("recurrent '", name,
         "': a condition is for an LSTM or GRU without checkpoints, and with norm none or layer");
}

/// The projection, where it is a product on the tape that this layer alone reads, else a copy: a leaf, a constant, a part
/// of a tensor, and what an earlier op needs again must stay as they are, and nothing would find their second use. Of other
/// ops than products the backward pass may read the result, as that of tanh does; what was detached has two names; and
/// what someone has looked into is compared with what it was.
Tensor to_consume(const std::string& name, const Tensor& projected) {
  const Tape* const tape = Tape::current();
  if (tape == nullptr) return projected.copy();
  const detail::Storage* const storage = projected.storage();
  bool is_result = false, is_needed = storage->lent || tape->watches(projected);
  for (const Tape::Node* node = tape->last(); node != nullptr && !is_result; node = node->previous) {
    const bool reads = std::ranges::find(node->inputs, storage->id) != node->inputs.end();
    if (reads && std::string_view(node->op) == "recurrence")
      fail("recurrent '", name, "': the projection ", projected.shape(),
           " has been consumed by an earlier sequence; project(x) again for this one");
    is_needed = is_needed || reads;
    is_result = std::ranges::any_of(node->outputs, [&](const Tensor& y) { return y.storage() == storage; });
    is_needed = is_needed || (is_result && node->kind != OpKind::product);
  }
  const bool is_whole = projected.size() == storage->size;
  return is_result && is_whole && !is_needed ? projected : slice(projected, 0, 0, projected.shape()[0]);
}

}  // namespace

Recurrent::Recurrent(Parameters& parameters, const std::string& name, const Cell& cell,
                     const RecurrentOptions& chosen)
    : name_(name), cell_(&cell), options_(chosen) {
  const size_t input = chosen.input, hidden = chosen.hidden;
  const CellForm& form = cell.form();
  require_options(name, form, chosen);
  require_gates_apart(cell);
  const size_t width = form.gates * hidden;
  const auto from_inputs = [&](const std::string& parameter, size_t inputs) {
    return initial_values(chosen.input_initial, parameter, {inputs, width}, parameters.random(parameter));
  };
  const bool normalized = chosen.norm == Norm::weight;
  const auto length_of = [&](const std::string& which, const Tensor& weight) {
    return normalized ? length_of_columns(weight, name + which + ".direction") : Tensor();
  };
  const auto add_weight = [&](const std::string& which, Tensor& weight, Tensor& gain) {
    weight = parameters.add(name + which + (normalized ? ".direction" : ""), weight);
    if (normalized) gain = parameters.add(name + which + ".gain", gain);
  };
  // Columns of zeros are refused before the first parameter is added.
  input_weight = from_inputs(name + ".input_weight", input);
  hidden_weight = gate_by_gate(chosen.hidden_initial, name + ".hidden_weight", hidden, form.gates,
                               parameters.random(name + ".hidden_weight"));
  input_gain = length_of(".input_weight", input_weight);
  hidden_gain = length_of(".hidden_weight", hidden_weight);
  add_weight(".input_weight", input_weight, input_gain);
  add_weight(".hidden_weight", hidden_weight, hidden_gain);

  const Norm site = normalized ? Norm::none : chosen.norm;
  const Norm gate_site = chosen.only_memory ? Norm::none : site;
  const bool batch = site == Norm::batch;
  const real gain = chosen.gain != 0 ? chosen.gain : batch ? real(0.1) : real(1);
  // A GRU's candidate has separate statistics (26-27); an LSTM's gates share theirs (20).
  const std::array<size_t, 2> of_gates{form.segments[0] * hidden, form.segments[1] * hidden};
  const auto add_norm = [&](const std::string& which, Norm norm, std::array<size_t, 2> segments,
                            bool with_bias) {
    return make_step_norm(
        parameters, name + which,
        {.norm = norm, .segments = segments, .gain = gain, .bias = with_bias, .max_steps = chosen.max_steps});
  };
  if (!form.joint) input_norm = add_norm(".input_norm", gate_site, of_gates, true);
  hidden_norm = add_norm(".hidden_norm", gate_site, of_gates, form.joint || !batch);
  if (chosen.condition > 0) {
    const std::string parameter = name + ".condition_weight";
    condition_weight = parameters.add(parameter, from_inputs(parameter, chosen.condition));
    condition_norm = add_norm(".condition_norm", gate_site, of_gates, true);
  }
  if (form.memory()) memory_norm = add_norm(".memory_norm", site, {hidden, 0}, true);
  if (gate_site == Norm::none) bias = parameters.add(name + ".bias", Tensor::zeros({width}));
  if (form.forget_gate) {
    Tensor start = gate_site == Norm::none ? bias : form.joint ? hidden_norm.bias : input_norm.bias;
    std::fill_n(start.data() + *form.forget_gate * hidden, hidden, chosen.forget_bias);
  }
  if (chosen.learn_initial) {
    initial_h = parameters.add(name + ".initial_h", Tensor::zeros({hidden}));
    if (form.memory() && chosen.learn_initial_memory)
      initial_c = parameters.add(name + ".initial_c", Tensor::zeros({hidden}));
  }
}

void Recurrent::require_shapes(const Tensor& x, size_t width, const SequenceOptions& with) const {
  const Shape shape = x.shape();
  if (shape.rank() != 3 || shape[2] != width)
    fail("recurrent '", name_, "': the input is ", shape, "; [T x B x ", width, "] is needed");
  if (shape[0] == 0 || shape[1] == 0)
    fail("recurrent '", name_, "': the input ", shape, " has no ", shape[0] == 0 ? "steps" : "cases");
  const Shape mask{shape[0], shape[1]}, state{shape[1], options_.hidden}, v{shape[1], options_.condition};
  if (with.mask.defined() && with.mask.shape() != mask)
    fail("recurrent '", name_, "': the mask is ", with.mask.shape(), " for an input of ", shape, "; ", mask,
         " is needed");
  for (const Tensor& each : {with.initial.h, with.initial.c})
    if (each.defined() && each.shape() != state)
      fail("recurrent '", name_, "': the initial state is ", each.shape(), "; ", state, " is needed");
  const bool given = with.condition.defined() && with.condition.columns() > 0;
  if (given ? with.condition.shape() != v : options_.condition > 0)
    fail("recurrent '", name_, "': the condition is ",
         with.condition.defined() ? text(with.condition.shape()) : "missing", "; ", v, " is needed");
  if (with.initial.c.defined() && !cell_->form().memory())
    fail("recurrent '", name_, "': an initial c was given, but only an LSTM has one");
}

RecurrentState Recurrent::initial_state(const RecurrentState& given, size_t rows) const {
  const auto choose = [&](const Tensor& state, const Tensor& learned) {
    if (state.defined() || !learned.defined()) return state;
    return Tensor::zeros({rows, options_.hidden}) + learned;
  };
  return {.h = choose(given.h, initial_h), .c = choose(given.c, initial_c)};
}

Tensor Recurrent::project(const Tensor& x) const { return linear(x, effective_input_weight(), bias); }

std::vector<Population> Recurrent::populations() const {
  std::vector<Population> all;
  for (const StepNormParameters& norm : {input_norm, hidden_norm, memory_norm, condition_norm})
    if (norm.norm == Norm::batch) all.push_back(norm.population);
  return all;
}

void Recurrent::forget_population() const {
  for (const Population& population : populations()) population.forget();
}

Tensor Recurrent::effective_input_weight() const {
  return input_gain.defined() ? weight_norm(input_weight, input_gain) : input_weight;
}

Tensor Recurrent::effective_hidden_weight() const {
  return hidden_gain.defined() ? weight_norm(hidden_weight, hidden_gain) : hidden_weight;
}

Tensor Recurrent::project_condition(const Tensor& v) const {
  Tensor product = matmul(v, condition_weight);
  if (condition_norm.norm == Norm::none) return product;
  const auto segment = [&](size_t begin, size_t end) {
    const auto part = [=](const Tensor& of) { return slice(of, -1, begin, end); };
    return layer_norm(part(product), part(condition_norm.gain), part(condition_norm.bias),
                      condition_norm.epsilon);
  };
  const auto [first, second] = condition_norm.segments;
  return second == 0 ? segment(0, first)
                     : concatenate({segment(0, first), segment(first, first + second)}, -1);
}

RowStepOptions Recurrent::step_options(Mode mode, SequenceRecord* record) const {
  return {.cell = cell_,
          .input_norm = input_norm,
          .hidden_norm = hidden_norm,
          .memory_norm = memory_norm,
          .mode = mode,
          .clip = options_.clip,
          .record = record};
}

/// One piece, from step `begin` of the whole on, whose inputs have been projected.
RecurrentState Recurrent::run(const Tensor& projected, const RecurrentState& state,
                              const SequenceOptions& with, const Tensor& condition, size_t begin,
                              const Tensor& hidden) const {
  RowStepOptions step = step_options(with.mode, with.record);
  step.condition = condition;
  step.count_padded = with.count_padded;
  step.record_from = begin;
  return recurrence({.step = step, .reverse = options_.reverse}, projected, effective_hidden_weight(), state,
                    with.mask, hidden);
}

/// The same without keeping anything for the backward pass, which recomputes the piece.
RecurrentState Recurrent::run_again_later(const Tensor& x, const RecurrentState& state,
                                          const SequenceOptions& with, const Tensor& condition, size_t begin,
                                          const Tensor& hidden) const {
  RecurrentState last;
  {
    const Tape::Pause pause;
    last = run(project(x), state, with, condition, begin, hidden);
  }
  const auto leaf = [](const Tensor& t) { return t.needs_gradient() ? t.detach().require_gradient() : t; };
  record("checkpoint", {hidden, last.c},
         {x, state.h, state.c, input_weight, hidden_weight, hidden_norm.gain, memory_norm.gain, bias,
          input_norm.gain, input_gain, hidden_gain, input_norm.bias, hidden_norm.bias, memory_norm.bias,
          with.mask},
         [=, layer = *this] {  // which may be gone by then, or elsewhere
           const Tensor again_x = leaf(x), again_hidden(hidden.shape());
           const RecurrentState again{.h = leaf(state.h), .c = leaf(state.c)};
           Tape tape;
           const RecurrentState again_last =
               layer.run(layer.project(again_x), again, with, condition, begin, again_hidden);
           if (last.c.gradient_data() != nullptr)
             tape.backward({{again_hidden, hidden.gradient()}, {again_last.c, last.c.gradient()}});
           else
             tape.backward(again_hidden, hidden.gradient());
           const auto pass_on = [](const Tensor& to, const Tensor& from) {
             if (const real* const d = from.gradient_data()) contribute(to, [=](size_t i) { return d[i]; });
           };
           pass_on(x, again_x);
           pass_on(state.h, again.h);
           pass_on(state.c, again.c);
         });
  return last;
}

Sequence Recurrent::operator()(const Tensor& x, const SequenceOptions& with) const {
  require_shapes(x, options_.input, with);
  const Scope scope(name_);
  const size_t steps = x.shape()[0], rows = x.shape()[1];
  const size_t length = options_.norm == Norm::batch ? steps : piece_length(steps);
  SequenceRecord* const record = record_for(with.record, name_, steps);
  const Tensor hidden({steps, rows, options_.hidden});
  RecurrentState state = initial_state(with.initial, rows);
  const Tensor condition = with.condition.defined() ? project_condition(with.condition) : Tensor();
  for (size_t done = 0; done < steps; done += length) {
    const size_t count = std::min(length, steps - done);
    const size_t begin = options_.reverse ? steps - done - count : done;
    SequenceOptions piece = with;
    piece.record = record;
    if (with.mask.defined()) piece.mask = with.mask.slice(begin, begin + count);
    const Tensor part = x.slice(begin, begin + count), states = hidden.slice(begin, begin + count);
    state = options_.checkpoint && Tape::current() != nullptr
                ? run_again_later(part, state, piece, condition, begin, states)
                : run(project(part), state, piece, condition, begin, states);
  }
  return {.hidden = hidden, .last = state};
}

Sequence Recurrent::from_projected(const Tensor& projected, const SequenceOptions& with) const {
  require_shapes(projected, cell_->form().gates * options_.hidden, with);
  const Scope scope(name_);
  const size_t steps = projected.shape()[0], rows = projected.shape()[1];
  SequenceOptions all = with;
  all.record = record_for(with.record, name_, steps);
  const Tensor condition = with.condition.defined() ? project_condition(with.condition) : Tensor();
  const Tensor hidden({steps, rows, options_.hidden});
  return {.hidden = hidden,
          .last = run(to_consume(name_, projected), initial_state(with.initial, rows), all, condition, 0,
                      hidden)};
}

}  // namespace lamina
