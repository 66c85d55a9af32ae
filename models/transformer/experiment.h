#pragma once
// The language model as an experiment for the training loop: Adam on the mean negative log likelihood of the next
// character or word.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/training/training.h"
#include "models/transformer/data.h"
#include "models/transformer/model.h"
#include "optim/adam.h"

namespace lamina::transformer {

/// What the learning rate does after it has risen linearly over the first `warmup` updates.
enum class Decay {
  none,   ///< it stays
  cosine  ///< it falls along half a cosine, whose end, a tenth, would be the rate of the update after the last
};

struct TransformerOptions {
  ModelOptions model = {};  ///< the vocabulary is that of the data
  size_t batch = 16;
  double learning_rate = 1e-3;
  double weight_decay = 0;  ///< of matrices, decoupled (AdamW)
  Decay decay = Decay::cosine;
  std::uint64_t warmup = 100, updates = 1000;
  size_t sample = 300;  ///< characters or words to write after each validation; 0: none
  std::uint64_t seed = 1;
};

/// The settings of a run that --preset selects. "paper" is a model of five million parameters; this experiment is of no
/// paper.
struct Preset {
  size_t width = 256, layers = 6, heads = 8, length = 256, batch = 16;
  double learning_rate = 1e-3;
  std::uint64_t epochs = 5, validate_every = 250;
  size_t stories = 20000;  ///< of the built-in data
};
/// "paper", or "small" for a first look; Error for another name.
Preset preset_of(std::string_view name);

inline constexpr real gradient_limit = 1;  ///< of all gradients together, norm2
/// In a run's folder: the model that was best on the validation text, and what the model wrote at each validation.
inline constexpr const char* best_model = "best.safetensors";
inline constexpr const char* samples_file = "samples.txt";

/// How many texts of this length the training part has in each epoch, wherever the first one begins. UsageError when
/// there is none.
size_t texts_in(const Data& data, size_t length);

/// An epoch cuts the training text into texts of `length` tokens side by side and takes each once, in random order. The
/// first one begins at a random place, so that the cuts differ from epoch to epoch.
class TransformerExperiment final : public Experiment {
 public:
  /// `data` must outlive the experiment; `folder` gets the alphabet, `best_model` and `samples_file`. Throws Error for
  /// a batch of 0 or one of more texts than there are.
  TransformerExperiment(const Data& data, const TransformerOptions& options, RunFolder folder);

  Tensor loss(std::uint64_t step) override;
  bool shares_batches() const override { return true; }
  /// Clips the gradient, and sets the learning rate of the step.
  void adjust_gradients() override;
  /// On the validation text. Keeps the model unless an earlier one was at least as good, and writes a sample.
  Metrics evaluate(double mean_training_loss) override;
  std::vector<std::string> metric_names() const override;
  std::vector<std::string> shown_metrics() const override { return {"train_nll", "valid_nll", "valid_bits"}; }

  /// Nats per token, mean over a part cut into texts side by side. The first tokens of each have little before them to
  /// guess from, so that this is a little more than a model needs that always sees its whole length.
  double score(std::span<const int> part);
  /// Of the current parameters on the test text; writes test.csv into the run's folder.
  void write_test();

  double learning_rate_at(std::uint64_t step) const;
  std::uint64_t steps_per_epoch() const { return order_.steps_per_epoch(); }
  const TransformerOptions& options() const { return options_; }
  const Data& data() const { return data_; }

 private:
  void write_sample(double bits);
  double epochs_done() const {
    return static_cast<double>(adam.steps) / static_cast<double>(steps_per_epoch());
  }

  const Data& data_;
  TransformerOptions options_;
  RunFolder folder_;
  EpochOrder order_;
  std::vector<int> tokens_, next_tokens_;  ///< of the current batch
  double best_;                            ///< nats of `best_model`

 public:
  Parameters parameters;
  Model model;
  AdamW adam;
};

/// The model's options with the data's vocabulary.
ModelOptions with_vocabulary(ModelOptions options, const Alphabet& alphabet);

}  // namespace lamina::transformer
