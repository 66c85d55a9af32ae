#pragma once
// Section 6.3 as an experiment for the training loop.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/skip_thoughts/triples.h"
#include "models/training/training.h"
#include "optim/choice.h"

namespace lamina::skip_thoughts {

/// The defaults are the paper's settings.
struct SkipOptions {
  Norm norm = Norm::none;
  Condition condition = Condition::initial;
  size_t embedding = 620, hidden = 2400;
  size_t batch = 64;
  OptimizerKind optimizer = OptimizerKind::adam;
  double learning_rate = 2e-4;
  bool lazy = false;  ///< a step does not change the embeddings of words that it does not use
  std::uint64_t seed = 1;
};

inline constexpr real gradient_limit = 5;  ///< of all gradients together, norm2

/// The settings of a run that --preset selects.
struct Preset {
  SkipOptions options = {};
  std::uint64_t epochs = 1, evaluate_every = 50000;  ///< passes over the text; updates
  size_t vocabulary = 20000;                         ///< <eos> and <unk> included
  size_t stories = 20000;                            ///< of the built-in text
};
/// "paper", or "small" with a quarter of the units for a first look; Error for another name.
Preset preset_of(std::string_view name);

/// The file in a run's folder with the encoder after this many updates.
std::string snapshot_file(std::uint64_t updates);

/// The number of updates of each snapshot in a run's folder, in ascending order.
std::vector<std::uint64_t> snapshots_in(const std::string& run_folder);

class SkipExperiment final : public Experiment {
 public:
  /// `corpus` must outlive the experiment; `folder` gets its vocabulary, what load_books needs, and the
  /// snapshots, of which the first is the encoder before any update.
  SkipExperiment(const Corpus& corpus, const SkipOptions& options, RunFolder folder);

  Tensor loss(std::uint64_t step) override;
  bool shares_batches() const override { return true; }
  /// Clips all gradients together to norm 5, as gradients of the loss summed over the words of the batch: the
  /// public code differentiates the sum, so its bound is active at nearly every step.
  void adjust_gradients() override;
  /// Nats per word on the passages held out. Keeps a snapshot of the encoder.
  Metrics evaluate(double mean_training_loss) override;
  std::vector<std::string> metric_names() const override { return {"epoch", "train_nll", "valid_nll"}; }

  std::uint64_t steps_per_epoch() const { return triples_.steps_per_epoch(); }
  const Triples& triples() const { return triples_; }

 private:
  void save_snapshot() const;

  RunFolder folder_;
  size_t batch_;
  Triples triples_;
  std::vector<Neighbours> held_out_;
  double words_ = 1;  // predicted by the current batch

 public:
  Parameters parameters;
  Model model;
  std::unique_ptr<Optimizer> optimizer;
};

}  // namespace lamina::skip_thoughts
