#pragma once
// Section 6.6 as an experiment for the training loop.

#include "models/mnist/model.h"
#include "models/training/digit_experiment.h"
#include "optim/adam.h"

namespace lamina::mnist {

class MnistExperiment final : public DigitExperiment {
 public:
  /// `data` must outlive the experiment. Throws Error for a batch of 0 or one larger than the training set.
  MnistExperiment(const MnistData& data, const DigitOptions& options)
      : DigitExperiment(data, options),
        model(parameters, {.norm = options.norm, .variance = variance_for(options.batch)}),
        adam(parameters, {.learning_rate = options.learning_rate}) {}

  Tensor logits(const Tensor& images, Mode mode) override { return model(images, mode); }
  Adam& optimizer() override { return adam; }

  Model model;
  Adam adam;
};

}  // namespace lamina::mnist
