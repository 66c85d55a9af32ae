#pragma once
// Section 6.6 as an experiment for the training loop.

#include "models/mnist/model.h"
#include "models/training/digit_experiment.h"

namespace lamina::mnist {

using MnistExperiment = DigitExperimentOf<Model>;

}  // namespace lamina::mnist
