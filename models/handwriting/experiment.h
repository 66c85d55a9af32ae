#pragma once
// Section 6.5 as an experiment for the training loop: Adam on the negative log likelihood of lines.

#include "models/handwriting/data/data.h"
#include "models/handwriting/model.h"
#include "models/training/training.h"
#include "optim/adam.h"

namespace lamina::handwriting {

/// Updates between two rows of metrics.csv, the unit of the axis of Figure 5.
inline constexpr std::uint64_t updates_per_report = 200;

struct ExperimentOptions {
  ModelOptions model = {};
  size_t batch = 8;
  size_t length = 500;  ///< points of a line, the rest is cut off
  real learning_rate = real(1e-3);
  std::uint64_t seed = 1;
};

class HandwritingExperiment final : public Experiment {
 public:
  /// `data` must outlive the experiment; `folder` gets a copy of the model after 200, 400, 800, ... updates.
  /// Throws Error for a batch of 0 or one larger than the training set.
  HandwritingExperiment(const Data& data, const ExperimentOptions& options, RunFolder folder);

  /// Summed over the batch, not averaged: the bounds on derivatives (see model.h) apply to the loss of one
  /// line.
  Tensor loss(std::uint64_t step) override;
  bool shares_batches() const override { return true; }
  bool adjusts_gradients() const override { return false; }
  Metrics evaluate(double mean_training_loss) override;
  std::vector<std::string> metric_names() const override;
  std::vector<std::string> shown_metrics() const override { return {"running_nll", "train_nll", "test_nll"}; }

  /// Mean over the first `count` lines, in nats per line.
  double score(std::span<const Line> lines, size_t count) const;
  const Data& data() const { return data_; }
  const ExperimentOptions& options() const { return options_; }

  std::uint64_t steps_per_epoch() const { return order_.steps_per_epoch(); }

  Parameters parameters;
  Model model;
  Adam adam;

 private:
  const Data& data_;
  ExperimentOptions options_;
  RunFolder folder_;
  EpochOrder order_;
};

/// The file in a run's folder with the model after this many updates.
std::string stage_file(std::uint64_t updates);

}  // namespace lamina::handwriting
