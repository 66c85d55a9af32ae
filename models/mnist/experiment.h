#pragma once
// Section 6.6 as an experiment for the training loop.

#include "models/mnist/model.h"
#include "models/training/digit_experiment.h"

namespace lamina::mnist {

class MnistExperiment final : public DigitExperiment {
 public:
  /// `data` must outlive the experiment. Throws Error for a batch of 0 or one larger than the training set.
  MnistExperiment(const MnistData& data, const DigitOptions& options)
      : DigitExperiment(data, options),
        model(parameters, {.norm = options.norm, .variance = variance_for(options.batch)}),
        optimizer_(make_optimizer(options.optimizer, parameters, options.learning_rate, options.momentum)) {}

  Tensor logits(const Tensor& images, Mode mode) override { return model(images, mode); }
  Optimizer& optimizer() override { return *optimizer_; }

  Model model;

 private:
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace lamina::mnist
