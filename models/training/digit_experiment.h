#pragma once
// Classifying digits, as an experiment for the training loop: batches of MNIST, the classifier's loss, its
// metrics. The classifier is defined by the experiments that derive from this one.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "layers/mode.h"
#include "layers/norms/normalization.h"
#include "models/data/mnist_data.h"
#include "models/training/training.h"
#include "models/training/training_step.h"
#include "optim/choice.h"

namespace lamina {

struct DigitOptions {
  Norm norm = Norm::none;
  size_t batch = 128;
  OptimizerKind optimizer = OptimizerKind::adam;
  real learning_rate = real(1e-3);
  real momentum = 0;  ///< of SGD
  std::uint64_t seed = 1;
};

/// Batch norm divides by N - 1 for batches up to this size, as the paper does for batches of 4.
inline constexpr size_t small_batch = 8;
inline Variance variance_for(size_t batch) {
  return batch <= small_batch ? Variance::unbiased : Variance::biased;
}

/// Mean negative log likelihood in nats and fraction of wrong answers.
struct Score {
  double nll = 0, error = 0;
};

/// How many rows of logits [cases x classes] do not have their largest one at their label.
size_t wrong_answers(const Tensor& logits, std::span<const int> labels);

class DigitExperiment : public Experiment {
 public:
  /// `data` must outlive the experiment. Throws Error for a batch of 0 or one larger than the training set.
  DigitExperiment(const MnistData& data, const DigitOptions& options);

  /// images [N x 784] -> [N x 10]
  virtual Tensor logits(const Tensor& images, Mode mode) = 0;
  virtual Optimizer& optimizer() = 0;

  Tensor loss(std::uint64_t step) override;
  bool shares_batches() const override { return true; }
  bool adjusts_gradients() const override { return false; }
  void adjust_gradients() final {}
  Metrics evaluate(double mean_training_loss) override;
  std::vector<std::string> metric_names() const override;
  std::vector<std::string> shown_metrics() const override {
    return {"train_nll", "valid_error", "test_error"};
  }

  Score score(const DigitSplit& split);
  const MnistData& data() const { return data_; }

  std::uint64_t steps_per_epoch() const { return order_.steps_per_epoch(); }

  Parameters parameters;

 private:
  const MnistData& data_;
  DigitOptions options_;
  EpochOrder order_;
  std::vector<int> labels_;  ///< of the current batch
};

/// That of a classifier whose options have a norm and a variance.
template <class Model>
class DigitExperimentOf final : public DigitExperiment {
 public:
  DigitExperimentOf(const MnistData& data, const DigitOptions& options)
      : DigitExperiment(data, options),
        model(parameters, {.norm = options.norm, .variance = variance_for(options.batch)}),
        optimizer_(make_optimizer(options.optimizer, parameters, options.learning_rate, options.momentum)) {}

  Tensor logits(const Tensor& images, Mode mode) override { return model(images, mode); }
  Optimizer& optimizer() override { return *optimizer_; }

  Model model;

 private:
  std::unique_ptr<Optimizer> optimizer_;
};

/// One step of a digit experiment on built-in digits.
template <class SomeExperiment>
TrainingStep digit_step(const TrainingStepOptions& options) {
  const auto data = std::make_shared<MnistData>(synthetic_mnist(1, options.batch, 1, 1));
  const auto experiment =
      std::make_shared<SomeExperiment>(*data, DigitOptions{.norm = options.norm, .batch = options.batch});
  return {.parameters = {experiment, &experiment->parameters},
          .loss = [data, experiment] { return experiment->loss(0); }};
}

}  // namespace lamina
