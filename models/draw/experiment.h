#pragma once
// Section 6.4 as an experiment for the training loop: Adam on the variational bound of binary images.

#include "models/common/training.h"
#include "models/draw/data.h"
#include "models/draw/model.h"
#include "optim/adam.h"

namespace lamina::draw {

struct ExperimentOptions {
  Norm norm = Norm::none;
  Sizes sizes = {};
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
  /// Clips the gradient norm to 10: gradients are large in the first steps.
  void adjust_gradients() override;
  /// The bound after the epoch, over the test and validation sets and over an equal number of the first
  /// training images, with noise that is the same after every epoch.
  Metrics evaluate(double mean_training_loss) override;
  std::vector<std::string> metric_names() const override;

  /// Over the first `count` images.
  BoundScore score(const BinaryImages& images, size_t count) const;
  const DrawData& data() const { return data_; }

  /// Whole batches in the training set; the images left over change from epoch to epoch.
  std::uint64_t steps_per_epoch() const { return data_.train.count() / options_.batch; }

  Parameters parameters;
  Model model;
  Adam adam;

 private:
  const DrawData& data_;
  ExperimentOptions options_;
  std::vector<int> order_;  ///< of the training images in the current epoch
  std::uint64_t order_of_epoch_ = ~std::uint64_t{0};
};

}  // namespace lamina::draw
