#pragma once
// Section 6.6 as an experiment for the training loop: batches of MNIST, the classifier's loss, its metrics.

#include <cstdint>
#include <string>
#include <vector>

#include "models/common/mnist_data.h"
#include "models/common/training.h"
#include "models/mnist/model.h"

namespace lamina::mnist {

struct ExperimentOptions {
  Norm norm = Norm::none;
  size_t batch = 128;
  real learning_rate = real(1e-3);
  std::uint64_t seed = 1;
};

/// Batch norm divides by N - 1 for batches up to this size, as the paper does for batches of 4.
inline constexpr size_t small_batch = 8;

class MnistExperiment final : public Experiment {
 public:
  /// `data` must outlive the experiment. Throws Error for a batch of 0 or one larger than the training set.
  MnistExperiment(const MnistData& data, const ExperimentOptions& options);

  Tensor loss(std::uint64_t step) override;
  Metrics evaluate(double mean_training_loss) override;
  std::vector<std::string> metric_names() const override;

  /// Whole batches in the training set; the cases left over change from epoch to epoch.
  std::uint64_t steps_per_epoch() const { return data_.train.count() / options_.batch; }

  Parameters parameters;
  Model model;
  Adam adam;

 private:
  const MnistData& data_;
  ExperimentOptions options_;
  std::vector<int> order_;   ///< of the training cases in the epoch under way
  std::vector<int> labels_;  ///< of the batch under way
  std::uint64_t order_of_epoch_ = ~std::uint64_t{0};
};

/// Mean negative log likelihood in nats and fraction of wrong answers.
struct Score {
  double nll = 0, error = 0;
};
Score score(Model& model, const Split& split);

}  // namespace lamina::mnist
