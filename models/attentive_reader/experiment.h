#pragma once
// Section 6.2 as an experiment for the training loop.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/attentive_reader/baselines.h"
#include "models/attentive_reader/data/data.h"
#include "models/attentive_reader/data/numbering.h"
#include "models/attentive_reader/model.h"
#include "models/training/training.h"
#include "optim/adam.h"

namespace lamina::attentive_reader {

struct ReaderOptions {
  Norm norm = Norm::none;
  bool everywhere = false;
  real gain = 0;
  size_t embedding = 240, hidden = 240;
  real dropout = real(0.5);
  NumberingOptions numbering = {};
  size_t batch = 64;
  real learning_rate = real(8e-5);
  size_t population_batches = 100;  ///< batch norm: to measure the population on before each validation
  std::uint64_t seed = 1;
};

/// The file in a run's folder with the model that was best on the validation questions.
inline constexpr const char* best_model = "best.safetensors";

/// Over the questions of a split.
struct ReaderScore {
  double error = 0;  ///< fraction of wrong answers, from 0 to 1
  double loss = 0;   ///< mean -log p(answer), in nats
};

/// Of the test questions.
struct ReaderTest {
  ReaderScore by_batch;                   ///< batch norm with each batch's statistics, as in the curves
  std::optional<ReaderScore> population;  ///< batch norm with the population's; nothing for other norms
};

/// An epoch visits every question once, in random order; the questions left over after whole batches change
/// from epoch to epoch. Batches consist of passages of similar length: the questions of every sixteen batches
/// are sorted by length, and the batches come in random order. Each batch has its own permutation of the
/// entities, in training and in evaluation (numbering.h).
///
/// Batch norm is evaluated in three ways. valid_loss and valid_error use the statistics of each validation
/// batch, as the curves of the paper do, and select the best model; population_loss and population_error use
/// statistics of the population, measured on training batches just before; moving_loss and moving_error use
/// moving averages. The population is part of the best model.
class ReaderExperiment final : public Experiment {
 public:
  /// `data` must outlive the experiment; `folder` gets `best_model`. Throws Error for a batch of 0 or one
  /// larger than the training set.
  ReaderExperiment(const Data& data, const ReaderOptions& options, RunFolder folder);

  Tensor loss(std::uint64_t step) override;
  bool shares_batches() const override { return true; }
  /// Gradients longer than 10 are shortened.
  void adjust_gradients() override;
  /// On the validation questions. Keeps the model unless an earlier one was at least as good.
  Metrics evaluate(double mean_training_loss) override;
  std::vector<std::string> metric_names() const override;
  std::vector<std::string> shown_metrics() const override {
    return {"train_loss", "valid_loss", "valid_error"};
  }

  ReaderScore score(const QuestionSplit& split, Mode mode) const;
  /// Batch norm: the population's statistics become those of this many training batches with the current
  /// parameters, or of a whole epoch when that has fewer. Does nothing for other norms.
  void measure_population(std::uint64_t batches);
  /// The best model on the test questions, its population measured on a whole epoch and kept. Writes test.csv in the
  /// run's folder.
  ReaderTest test();

  /// The answers to some questions, without recording and without permuting the entities; attention [T x B].
  Answers answer(std::span<const Question> questions) const;

  std::uint64_t steps_per_epoch() const { return data_.train.count / options_.batch; }

  /// The questions of a training step, as written and, this rank's part of them, as the model sees them.
  std::vector<Question> training_questions(std::uint64_t step);
  NumberedQuestions training_batch(std::uint64_t step);
  /// The number of batches in which a split is scored; their sizes differ by at most one question.
  size_t evaluation_batches(const QuestionSplit& split) const;
  NumberedQuestions evaluation_batch(const QuestionSplit& split, size_t number) const;

  const Data& data() const { return data_; }
  const ReaderOptions& options() const { return options_; }

 private:
  void draw_epoch(std::uint64_t epoch);
  void keep_best() const;
  double epochs_done() const {
    return static_cast<double>(adam.steps) / static_cast<double>(steps_per_epoch());
  }

  const Data& data_;
  ReaderOptions options_;
  RunFolder folder_;
  Baselines baselines_;     // means over the validation questions
  std::vector<int> order_;  // of the training questions in the current epoch
  std::uint64_t drawn_epoch_ = ~std::uint64_t{0};
  double best_;  // validation error of `best_model`

 public:
  Parameters parameters;
  Model model;
  Adam adam;
};

/// The mean of each number over the questions of a split.
Baselines baselines_of(const QuestionSplit& split);

}  // namespace lamina::attentive_reader
