#pragma once
// Section 6.7 as an experiment for the training loop.

#include "models/convnet/model.h"
#include "models/training/digit_experiment.h"

namespace lamina::convnet {

using ConvnetExperiment = DigitExperimentOf<Model>;

}  // namespace lamina::convnet
