#pragma once
// The training loop of every experiment: steps, reports, checkpoints, and the ways a run can end.
//
// A run is a sequence of steps, cut into epochs. After each epoch the experiment is evaluated, a row is added
// to metrics.csv and everything is saved. The file `state` holds everything that the next step depends on, so
// a run that was killed and resumed continues as if nothing had happened, bit for bit: an experiment draws
// its batches and its noise from generators that are functions of the step or the epoch, never from one that
// carries state from step to step.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/parameters.h"
#include "core/tensor.h"
#include "models/run/run_folder.h"
#include "optim/optimizer.h"

namespace lamina {

using Metrics = std::vector<std::pair<std::string, double>>;

/// What differs between experiments.
class Experiment {
 public:
  virtual ~Experiment() = default;

  /// The loss of training step number `step`, from 0; recorded on the tape that the loop has opened.
  virtual Tensor loss(std::uint64_t step) = 0;

  /// Whether loss() computes only this rank's part of a batch where several train together
  /// (core/distributed/batch_part.h), so that the losses of all ranks sum to that of the batch.
  virtual bool shares_batches() const { return false; }

  /// Called between backward() and the optimizer's step: gradients may be clipped here.
  virtual void adjust_gradients() {}

  /// Whether adjust_gradients() reads or changes them; the same on every rank. Where it does not, ranks that share a model
  /// need not have the sums of all.
  virtual bool adjusts_gradients() const { return true; }

  /// Called after the optimizer's step, on every rank: for what follows the weights, as a MovingAverage does, or what must hold
  /// of them. The ranks of a machine may hold one copy of the weights: where several train, only read them here.
  virtual void after_update() {}

  /// The metrics after an epoch whose training losses had this mean. Once before the first update, with NaN: the
  /// optimizer has done no steps then, and nothing is to be kept of the model, such as the best one. Gradients that it
  /// leaves are dropped. Where several ranks train all call this and divide the work (core/distributed/shared_pieces.h);
  /// only one whose RunFolder::is_ours() may write a file.
  virtual Metrics evaluate(double mean_training_loss) = 0;

  /// The names of all metrics that evaluate() returns, in the order of metrics.csv, which has columns `step`, `seconds` and
  /// that of the plan's epoch besides.
  virtual std::vector<std::string> metric_names() const = 0;

  /// Of these the three at most that each report's line shows; here the first ones.
  virtual std::vector<std::string> shown_metrics() const;
};

/// The order in which an experiment takes its cases: whole batches, in a new order in each epoch; the cases left over
/// change from epoch to epoch.
class EpochOrder {
 public:
  EpochOrder(std::uint64_t seed, size_t cases, size_t batch) : seed_(seed), cases_(cases), batch_(batch) {}

  /// 0 where a batch is empty or larger than all cases.
  std::uint64_t steps_per_epoch() const { return batch_ == 0 ? 0 : cases_ / batch_; }
  /// The cases of a training step, until the next call. Throws Error where an epoch has no step.
  std::span<const int> batch_of(std::uint64_t step);

 private:
  std::uint64_t seed_;
  size_t cases_, batch_;
  std::vector<int> order_;  ///< of the epoch under way
  std::uint64_t epoch_ = ~std::uint64_t{0};
};

/// What a run is called, "layer norm, batch 128", and its place among those that one call trains one after the other.
struct RunLabel {
  RunLabel() = default;
  RunLabel(std::string run_name) : name(std::move(run_name)) {}
  RunLabel(const char* run_name) : name(run_name) {}

  std::string name;
  size_t number = 1, of = 1;
  double later = 0;  ///< the work of those that come after it, as a multiple of its own
};

struct TrainingPlan {
  RunLabel label;  ///< printed when the run begins, and shown beside the bar
  std::uint64_t steps_per_epoch = 1;
  std::uint64_t epochs = 1;
  std::uint64_t last_epoch_steps = 0;  ///< when the last epoch is shorter; 0: as many as the others
  std::string epoch = "epoch";         ///< the name of the steps between two evaluations
  double save_every_seconds = 60;      ///< besides the save after each epoch
};

/// The number of updates in `epochs` epochs. UsageError when it exceeds 2^53, the largest count that metrics
/// hold exactly.
std::uint64_t updates_in(std::uint64_t epochs, std::uint64_t steps_per_epoch);

/// `steps` in periods of `each` between two evaluations, of which the last may be shorter. `period` is the
/// name of a period: "validation". Throws Error where one of the numbers is 0.
TrainingPlan plan_in_periods(const RunLabel& label, std::uint64_t steps, std::uint64_t each,
                             const std::string& period);

/// A run whose loss, model or metric is not finite.
struct RunDiverged : DataError {
  using DataError::DataError;
};

enum class Outcome {
  finished,
  interrupted,
  followed  ///< finished, on a rank other than the first, which has the files
};

/// Trains until the plan is done or Ctrl-C is pressed. Continues from `state` when the folder has one. Writes
/// metrics.csv (columns epoch, or the plan's name for it, step, the experiment's own, seconds), initial.csv and
/// steps.csv (models/recording/steps_file.h), state and model.safetensors (models/run/run_state.h), the rows of metrics.csv
/// for TensorBoard when the run's settings say `tensorboard` (models/run/event_file.h), and record.csv when they say
/// `record` (models/recording/recorder.h). Throws RunDiverged when the loss, a metric after an epoch, a parameter or a
/// moment of the optimizer is not finite, naming the step, of a loss the first op whose result was not, and the last
/// good checkpoint, which stays (the file diverged.txt of the run then holds what was not finite, until it goes on);
/// and DataError for files of the run that are damaged or do not fit the model, before the model or state is changed.
/// Throws Error for a plan whose epochs have no step, or whose last one has more than the others or is one of none, and for
/// metrics of the same name, or that are named and not measured.
///
/// Where several ranks train (core/distributed/group.h), all call this with the same model and plan. Each computes its
/// part of every batch and its part of every evaluation; the first one saves and reports, and the others take over what
/// it has loaded. Throws UsageError for an experiment that does not share its batches and an optimizer that updates only
/// some rows, and DataError on a rank whose parameters differ from the first one's, which every hundredth step checks.
Outcome train(const RunFolder& folder, Parameters& parameters, Optimizer& optimizer, Experiment& experiment,
              const TrainingPlan& plan);

/// Writes learned parameters, state and `metadata` into a file of the run that Python can read. Where several ranks train
/// the first one writes.
void save_model(const RunFolder& folder, const Parameters& parameters, const std::string& file,
                std::map<std::string, std::string> metadata = {});

/// Reads such a file into parameters of the same names and shapes, which may be a part of its model, such as an
/// encoder. Error while averages are swapped in; DataError for a parameter that it lacks or has in another shape, and
/// when one of its numbers is not finite: a model that diverged is of no use. Where several ranks train all call this,
/// and the first one reads.
void load_model(const RunFolder& folder, Parameters& parameters,
                const std::string& file = "model.safetensors");

/// A finite number from the metadata of a file of the best model that save_model wrote, `otherwise` where the run has not
/// evaluated a model yet. A best model that was kept may be of a later step than the one to continue from: that step is
/// then repeated and changes nothing. DataError for a file without it, and where the file is gone although the run has
/// evaluated models. Where several ranks train, all call this and have the first one's number.
double number_kept(const RunFolder& folder, const std::string& file, const std::string& name,
                   double otherwise);

/// A double as text that reads back as the same double.
std::string exact(double value);

}  // namespace lamina
