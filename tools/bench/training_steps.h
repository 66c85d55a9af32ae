#pragma once
// The training steps that `lamina graph` draws and `make bench` times, on random data. A new experiment adds
// one line to the table in training_steps.cpp.

#include <string>
#include <string_view>
#include <vector>

#include "models/training/training_step.h"

namespace lamina {

struct NamedTrainingStep {
  std::string name;
  std::vector<Norm> norms;  ///< that it can be built with; the first is the default
  size_t batch;             ///< the default
  TrainingStep (*make)(const TrainingStepOptions& options);
  bool clips = false;  ///< the experiment's training reads all gradients, to clip them
};

const std::vector<NamedTrainingStep>& training_steps();

/// None where there is no experiment of this name.
const NamedTrainingStep* find_training_step(std::string_view name);

}  // namespace lamina
