#include "models/lab/adding.h"

#include <cmath>

#include "core/error.h"
#include "core/ops.h"
#include "core/tape.h"
#include "optim/clip.h"

namespace lamina::lab {

namespace {

std::unique_ptr<Recurrent> layer_of(Parameters& parameters, const AddingOptions& options) {
  const RecurrentOptions all{.input = 2,
                             .hidden = options.hidden,
                             .norm = options.norm,
                             .gain = options.gain,
                             .max_steps = options.steps};
  return std::make_unique<Recurrent>(parameters, "layer", options.lstm ? lstm_cell() : tanh_cell(), all);
}

}  // namespace

AddingCases adding_cases(size_t steps, size_t cases, Random& random) {
  if (steps < 2) fail("adding_cases: ", steps, " steps; two or more are needed for two marks");
  AddingCases all{Tensor::zeros({steps, cases, 2}), Tensor::zeros({cases, 1})};
  const auto at = [&](size_t t, size_t b) { return (t * cases + b) * 2; };
  for (size_t b = 0; b < cases; ++b) {
    for (size_t t = 0; t < steps; ++t) all.x[at(t, b)] = static_cast<real>(random.uniform());
    const auto half = static_cast<std::uint32_t>(steps / 2), rest = static_cast<std::uint32_t>(steps) - half;
    for (const size_t t : {random.below(half), half + random.below(rest)}) {
      all.x[at(t, b) + 1] = 1;
      all.y[b] += all.x[at(t, b)];
    }
  }
  return all;
}

AddingSets adding_sets(size_t steps, size_t cases, std::int64_t seed) {
  Random random(static_cast<std::uint64_t>(seed), 2);
  AddingCases valid = adding_cases(steps, cases, random);
  return {.valid = valid, .test = adding_cases(steps, cases, random)};
}

AddingModel::AddingModel(const AddingOptions& options, std::uint64_t seed)
    : options_(options),
      parameters_(std::make_unique<Parameters>(seed)),
      layer_(layer_of(*parameters_, options)),
      output_(*parameters_, "output", {.input = options.hidden, .output = 1}),
      adam_(*parameters_, {.learning_rate = options.learning_rate}),
      random_(seed, 1) {}

Tensor AddingModel::loss(const AddingCases& cases, Mode mode, SequenceRecord* record) const {
  const Sequence sequence = (*layer_)(cases.x, {.mode = mode, .record = record});
  return mean_squared_error(output_(sequence.last.h), cases.y);
}

void AddingModel::train_step() {
  const AddingCases cases = adding_cases(options_.steps, 32, random_);
  Tape tape;
  tape.backward(loss(cases, Mode::train, nullptr));
  clip_gradient_norm(*parameters_, 1);
  adam_.step();
}

double AddingModel::error(const AddingCases& cases) const {
  return static_cast<double>(loss(cases, Mode::evaluate, nullptr).item());
}

std::vector<double> AddingModel::gradient_lengths(const AddingCases& cases) {
  SequenceRecord record;
  Tape tape;
  tape.backward(loss(cases, Mode::evaluate_by_batch, &record));
  parameters_->clear_gradients();
  return record.hidden_gradient_norm;
}

std::vector<Observation> at_the_best_rate(std::span<const double> rates,
                                          const std::function<AddingRun(real learning_rate)>& train) {
  AddingRun best;
  for (const double rate : rates) {
    AddingRun run = train(static_cast<real>(rate));
    if (best.rows.empty() || std::isnan(best.valid_error) || run.valid_error < best.valid_error)
      best = std::move(run);
  }
  return best.rows;
}

}  // namespace lamina::lab
