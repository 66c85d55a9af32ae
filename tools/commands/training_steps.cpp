#include "tools/commands/training_steps.h"

#include <algorithm>

#include "layers/recurrent/recurrent.h"
#include "tools/bench/timed_steps.h"
#include "tools/commands/commands.h"

namespace lamina {

namespace {

/// A layer as `make bench` times it.
template <class Layer>
NamedTrainingStep usual_recurrent_step(const char* name) {
  return {.name = name,
          .norms = {Norm::layer, Norm::none, Norm::batch, Norm::weight},
          .batch = 32,
          .make = [](const TrainingStepOptions& options) {
            return recurrent_step<Layer>({.norm = options.norm, .batch = options.batch});
          }};
}

std::vector<NamedTrainingStep> all_steps() {
  std::vector<NamedTrainingStep> steps;
  for (const auto step : experiment_steps) steps.push_back(step());
  steps.push_back(usual_recurrent_step<Rnn>("rnn"));
  steps.push_back(usual_recurrent_step<Lstm>("lstm"));
  steps.push_back(usual_recurrent_step<Gru>("gru"));
  return steps;
}

}  // namespace

const std::vector<NamedTrainingStep>& training_steps() {
  static const std::vector<NamedTrainingStep> steps = all_steps();
  return steps;
}

const NamedTrainingStep* find_training_step(std::string_view name) {
  const auto& steps = training_steps();
  const auto place = std::ranges::find(steps, name, &NamedTrainingStep::name);
  return place == steps.end() ? nullptr : &*place;
}

}  // namespace lamina
