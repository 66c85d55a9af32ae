#pragma once
// Every model's training step by name, for `lamina graph`. A new experiment adds one line to the table in
// training_steps.cpp.

#include <string>
#include <vector>

#include "models/common/training_step.h"

namespace lamina {

struct NamedTrainingStep {
  std::string name;
  std::vector<Norm> norms;  ///< that it can be built with; the first is the default
  size_t batch;             ///< the default
  TrainingStep (*make)(const TrainingStepOptions& options);
};

const std::vector<NamedTrainingStep>& training_steps();

}  // namespace lamina
