#pragma once
// Section 6.4 as an experiment for the training loop: Adam on the variational bound of binary images.

#include "models/draw/data.h"
#include "models/draw/model.h"
#include "models/training/training.h"
#include "optim/adam.h"

namespace lamina::draw {

struct ExperimentOptions {
  Norm norm = Norm::none;
  GlimpseSizes sizes = {};
  size_t batch = 128;
  real learning_rate = real(1e-3);
  std::uint64_t seed = 1;
};

/// Means over the images of a set, in nats.
struct BoundScore {
  double reconstruction = 0, kl = 0;
  double bound() const { return reconstruction + kl; }
};

class DrawExperiment final : public Experiment {
 public:
  /// `data` must outlive the experiment. Throws Error for a batch of 0 or one larger than the training set.
  DrawExperiment(const DrawData& data, const ExperimentOptions& options);

  Tensor loss(std::uint64_t step) override;
  bool shares_batches() const override { return true; }
  /// Clips the gradient norm to 10: gradients are large in the first steps.
  void adjust_gradients() override;
  /// The bound after the epoch, over the test and validation sets and over an equal number of the first
  /// training images, with noise that is the same after every epoch.
  Metrics evaluate(double mean_training_loss) override;
  std::vector<std::string> metric_names() const override;
  std::vector<std::string> shown_metrics() const override {
    return {"train_bound", "valid_bound", "test_bound"};
  }

  /// Over the first `count` images.
  BoundScore score(const BinaryImages& images, size_t count) const;
  const DrawData& data() const { return data_; }

  std::uint64_t steps_per_epoch() const { return order_.steps_per_epoch(); }

  Parameters parameters;
  Model model;
  Adam adam;

 private:
  const DrawData& data_;
  ExperimentOptions options_;
  EpochOrder order_;
};

}  // namespace lamina::draw
