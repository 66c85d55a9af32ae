#pragma once
// The training steps that `lamina graph` draws and `make bench` times: those of the experiments (commands.h) and of layers.

#include <string_view>
#include <vector>

#include "models/training/training_step.h"

namespace lamina {

const std::vector<NamedTrainingStep>& training_steps();

/// None where there is no experiment of this name.
const NamedTrainingStep* find_training_step(std::string_view name);

}  // namespace lamina
