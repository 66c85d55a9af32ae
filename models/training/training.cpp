#include "models/training/training.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "core/distributed/group.h"
#include "core/distributed/shared_parameters.h"
#include "core/distributed/shared_pieces.h"
#include "core/error.h"
#include "core/files/file.h"
#include "core/files/folder.h"
#include "core/tape.h"
#include "models/recording/recorder.h"
#include "models/recording/steps_file.h"
#include "models/run/event_file.h"
#include "models/run/metrics.h"
#include "models/run/run_state.h"
#include "models/terminal/interrupt.h"
#include "models/terminal/progress.h"
#include "models/terminal/terminal.h"
#include "models/training/training_look.h"
#include "models/training/training_ranks.h"
#include "optim/clip.h"

namespace lamina {

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Stops a run that has diverged; nothing more is saved but the reason.
[[noreturn]] void stop(const RunFolder& folder, const std::string& what, const char* op,
                       std::uint64_t saved_step) {
  const std::string reason = text(what, op == nullptr ? "" : text(", first in the op '", op, "'"));
  if (RunFolder::is_ours()) write_file(folder.file(diverged_file), reason + '\n');
  fail<RunDiverged>(
      folder.path(), ": ", reason, "; ",
      saved_step == 0 ? "nothing was saved yet" : text("the state of step ", saved_step, " is kept"),
      "; lower --lr or look for such values in the data");
}

/// What a run trains, and where.
struct Trained {
  const RunFolder& folder;
  Parameters& parameters;
  Optimizer& optimizer;
  Experiment& experiment;
};

[[noreturn]] void stop_at_loss(const Trained& trained, double loss, const char* op, std::uint64_t step,
                               std::uint64_t saved_step) {
  stop(trained.folder, text("the loss is ", number_text(loss), " in step ", step + 1), op, saved_step);
}

struct StepResult {
  double loss;
  bool interrupted;  ///< any of several ranks
};

/// What of the steps goes into the files of the run.
struct StepRecords {
  Recording recording = {};
  StepsFile rows = {};
};

/// One step, with what all ranks contribute to it.
StepResult train_step(const Trained& trained, StepRecords& records, RankSteps& rank_steps, std::uint64_t step,
                      std::uint64_t saved_step) {
  Recording::Step recorded(records.recording, step);
  RankSteps::Step ranks(rank_steps, step);
  trained.parameters.clear_gradients();  // those that an evaluation has left, as a resumed run has none
  Tape tape;
  const Tensor loss = trained.experiment.loss(step);
  const double value = static_cast<double>(loss.item());
  const char* culprit = std::isfinite(value) ? nullptr : first_non_finite(tape);
  if (!std::isfinite(value) && culprit == nullptr) culprit = "input";
  if (culprit != nullptr && !distributed::is_shared())
    stop_at_loss(trained, value, culprit, step, saved_step);
  ranks.forward_done(value, interrupted());
  tape.backward(loss);
  ranks.backward_done();
  if (!std::isfinite(ranks.loss())) stop_at_loss(trained, ranks.loss(), culprit, step, saved_step);
  recorded.before_update();
  StepRow row{.step = step + 1, .train_loss = ranks.loss()};
  const bool has_row = records.rows.has_row(step);
  if (has_row) row.gradient_norm = static_cast<double>(gradient_norm(trained.parameters));
  try {
    trained.experiment.adjust_gradients();
  } catch (const NotFinite& error) {
    const std::string what = error.what();
    stop(trained.folder, text("step ", step + 1, ": ", what.substr(0, what.find("; "))), nullptr, saved_step);
  }
  if (has_row || recorded.is_recorded()) trained.folder.require_at_its_place();
  ranks.parameters_read();
  trained.optimizer.step();
  ranks.update_done();
  trained.experiment.after_update();
  recorded.after_update();
  row.learning_rate = static_cast<double>(trained.optimizer.learning_rate());
  if (has_row) records.rows.append(row);
  if ((step + 1) % steps_between_checks == 0) require_equal_parameters(trained.parameters, step + 1);
  return {ranks.loss(), ranks.interrupted()};
}

/// A loss can be finite although its gradient is not: then the update has spoilt parameters or moments, which
/// must not replace the last good ones. Checked only before they are used for more than the next step. The op
/// named is the first one of that step whose result they spoil.
void require_finite(const RunFolder& folder, const Parameters& parameters, const Optimizer& optimizer,
                    Experiment& experiment, std::uint64_t step, std::uint64_t saved_step) {
  const std::string part = non_finite_part(parameters, optimizer);
  if (part.empty()) return;
  const Tape tape;
  const Tensor loss = experiment.loss(step);
  stop(folder, text("'", part, "' is not finite after the update of step ", step), first_non_finite(tape),
       saved_step);
}

void require_finite(const RunFolder& folder, const Metrics& metrics, std::uint64_t step,
                    std::uint64_t saved_step) {
  for (const auto& [name, value] : metrics)
    if (!std::isfinite(value))
      stop(folder, text(name, " is ", number_text(value), " after step ", step), nullptr, saved_step);
}

/// Complete rows of a metrics file that may be missing or without its header.
size_t rows_in(const std::string& path) {
  const bool begun = exists(path) && read_file(path).find('\n') != std::string::npos;
  return begun ? read_table(path).rows.size() : 0;
}

std::uint64_t steps_of(const TrainingPlan& plan) {
  const std::uint64_t missing = plan.last_epoch_steps == 0 ? 0 : plan.steps_per_epoch - plan.last_epoch_steps;
  return updates_in(plan.epochs, plan.steps_per_epoch) - missing;
}

/// A metric that is named and not measured would be a column of NaN, one that is only shown no word of the line.
void require_all(const Experiment& experiment, const Metrics& measured) {
  const std::vector<std::string> names = experiment.metric_names();
  for (const auto& [name, value] : measured)
    if (std::ranges::count(measured, name, &Metrics::value_type::first) > 1)
      fail("training: evaluate() returned '", name, "' twice; return each metric once");
  for (const std::string& name : names)
    if (std::ranges::find(measured, name, &Metrics::value_type::first) == measured.end())
      fail("training: evaluate() returned no '", name, "', which metric_names() has; measure it or drop it");
  for (const std::string& name : experiment.shown_metrics())
    if (std::ranges::find(names, name) == names.end())
      fail("training: shown_metrics() has '", name, "', which metric_names() does not have; add it there");
}

/// The metrics before the first step or after the last one of an epoch, of the first rank's model: each may have running
/// averages of its own. An epoch that a shorter run has reported before its end has only the rest of its losses in the
/// mean. All ranks come here.
Metrics evaluate(const Trained& trained, Position& position) {
  const std::uint64_t steps = position.step - std::exchange(position.reported, position.step);
  const double loss_sum = std::exchange(position.loss_sum, 0);
  distributed::broadcast_state(trained.parameters);
  const distributed::SharedWork sharing;
  Metrics measured =
      trained.experiment.evaluate(position.step == 0 ? std::nan("") : loss_sum / static_cast<double>(steps));
  require_all(trained.experiment, measured);
  return measured;
}

/// "variant 2/3: layer norm, batch 128 (1796010 parameters)"
std::string heading(const RunLabel& label, const Parameters& parameters) {
  const std::string place = label.of > 1 ? text("variant ", label.number, '/', label.of, ": ") : "";
  return bold(text(place, label.name)) + text(" (", parameters.count(), " parameters)");
}

/// "epoch 3/20:  train nll 0.0712  valid error 2.34%": errors are fractions.
std::string describe(std::uint64_t epoch, const TrainingPlan& plan, const Metrics& metrics,
                     const std::vector<std::string>& shown) {
  std::string line = text(plan.epoch, " ", epoch, "/", plan.epochs, ":");
  for (const std::string& name : shown) {
    const auto metric = std::ranges::find(metrics, name, &Metrics::value_type::first);
    if (metric == metrics.end()) continue;
    const bool error = name.ends_with("_error");
    std::string words = name;
    std::ranges::replace(words, '_', ' ');
    line += "  " + words + formatted(error ? " %.2f%%" : " %.4g", (error ? 100 : 1) * metric->second);
  }
  return line;
}

/// One session of a run.
class Training {
 public:
  Training(const Trained& trained, const TrainingPlan& plan)
      : trained_(trained),
        plan_(plan),
        total_(steps_of(plan)),
        position_(load_state(trained.folder, trained.parameters, trained.optimizer, total_)),
        metrics_(metrics_file()),
        events_(event_file()),
        records_{.recording = {trained.folder, trained.parameters, position_.step},
                 .rows = {trained.folder, plan.steps_per_epoch, position_.step}},
        saved_step_(position_.step),
        began_(now() - position_.seconds),
        last_save_(now()) {
    if (position_.step < total_) note_commit(trained.folder, position_.step == 0);
    std::error_code kept;  // one that cannot be removed is of no harm here
    std::filesystem::remove(trained.folder.file(diverged_file), kept);
    position_.reported = static_cast<std::uint64_t>(metrics_.last_step());
    share_state(trained.parameters, trained.optimizer, position_);
    rank_steps_.emplace(trained.parameters, trained.optimizer,
                        RankSteps::GradientsRead{.always = trained.experiment.adjusts_gradients(),
                                                 .rows = records_.rows.every(),
                                                 .record = records_.recording.every()});
  }

  Outcome run() {
    const RunLabel& label = plan_.label;
    const bool only = label.of == 1;
    Progress progress({.total = static_cast<long>(total_),
                       .done = static_cast<long>(position_.step),
                       .later = only ? -1 : label.later});
    const CatchInterrupts catching;
    progress.line(heading(label, trained_.parameters));
    if (position_.step == 0 && !stops()) evaluate_untrained();
    while (position_.step < total_ && !stops()) {
      if (position_.step % plan_.steps_per_epoch == 0 || position_.step == saved_step_)
        progress.label(text(only ? label.name : text("variant ", label.number, '/', label.of), ", ",
                            plan_.epoch, " ", epoch(), "/", plan_.epochs));
      const StepResult result = train_step(trained_, records_, *rank_steps_, position_.step, saved_step_);
      position_.loss_sum += result.loss;
      ++position_.step;
      progress.step(result.loss);
      if (position_.step % plan_.steps_per_epoch == 0 || position_.step == total_)
        progress.line(end_epoch());
      else if (now() - last_save_ > plan_.save_every_seconds)
        check_and_save();
      interrupted_ = result.interrupted;
    }
    progress.finish();
    if (position_.step >= total_) return Outcome::finished;
    check_and_save();
    return Outcome::interrupted;
  }

 private:
  /// All ranks stop after the same step: the one in which they heard of it.
  bool stops() const { return distributed::is_shared() ? interrupted_ : interrupted(); }

  /// The number, from 1, of the epoch that the next step belongs to.
  std::uint64_t epoch() const { return position_.step / plan_.steps_per_epoch + 1; }

  std::vector<std::string> columns() const;
  MetricsFile metrics_file() const;
  void evaluate_untrained();
  std::optional<EventFile> event_file() const;
  std::string end_epoch();
  void check_model() const;
  void check_and_save();
  void save();

  const Trained trained_;
  const TrainingPlan& plan_;
  const std::uint64_t total_;
  Position position_;
  MetricsFile metrics_;
  std::optional<EventFile> events_;  ///< for TensorBoard, when the run's settings ask for it
  StepRecords records_;
  std::optional<RankSteps> rank_steps_;
  std::uint64_t saved_step_;
  const double began_;
  double last_save_;
  bool interrupted_ = false;
};

/// Of metrics.csv and initial.csv.
std::vector<std::string> Training::columns() const {
  std::vector<std::string> all{plan_.epoch, "step"};
  std::ranges::copy(trained_.experiment.metric_names(), std::back_inserter(all));
  all.emplace_back("seconds");
  for (const std::string& name : all)
    if (std::ranges::count(all, name) > 1)
      fail("training: metrics.csv would have two columns '", name,
           "'; rename the metric, or the plan's epoch");
  return all;
}

/// metrics.csv as of when the state was saved.
MetricsFile Training::metrics_file() const {
  const std::string path = trained_.folder.file("metrics.csv");
  if (position_.metrics) return MetricsFile::restore(path, columns(), *position_.metrics);

  // Either nothing was saved, so the run was killed after its first row at the latest; or an older version
  // saved a state without rows.
  const size_t rows = rows_in(path), epochs = position_.step / plan_.steps_per_epoch;
  if (position_.step == 0 && rows > 1)
    fail<DataError>(path, ": holds ", rows, " rows, but ", trained_.folder.file("state"),
                    " is missing; restore it, or start a new run in another folder");
  if (rows < epochs)
    fail<DataError>(path, ": lacks ", epochs - rows, " of the ", epochs,
                    " rows that the run has reported; restore it, or start a new run in another folder");
  return MetricsFile::resume(path, columns(), static_cast<double>(position_.step));
}

/// A file of its own: whoever reads metrics.csv expects a row for each epoch, with a training loss.
void Training::evaluate_untrained() {
  Metrics row = evaluate(trained_, position_);
  row.insert(row.begin(), {{plan_.epoch, 0}, {"step", 0}});
  row.emplace_back("seconds", now() - began_);
  MetricsFile(trained_.folder.file(initial_file), columns()).append(row);
}

std::optional<EventFile> Training::event_file() const {
  const Settings& settings = trained_.folder.config().settings;
  if (!settings.has("tensorboard") || !settings.get<bool>("tensorboard")) return {};
  const std::chrono::duration<double> since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return EventFile(trained_.folder.file(event_file_name), table_of(metrics_.path(), metrics_.content()),
                   since_1970.count() - position_.seconds);
}

/// Evaluates and saves; returns a line with the results.
std::string Training::end_epoch() {
  const std::uint64_t epoch = (position_.step - 1) / plan_.steps_per_epoch + 1;
  check_model();
  Metrics row = evaluate(trained_, position_);
  require_finite(trained_.folder, row, position_.step, saved_step_);
  std::string line = describe(epoch, plan_, row, trained_.experiment.shown_metrics());
  row.insert(row.begin(),
             {{plan_.epoch, static_cast<double>(epoch)}, {"step", static_cast<double>(position_.step)}});
  row.emplace_back("seconds", now() - began_);
  trained_.folder.require_at_its_place();
  metrics_.append(row);
  if (events_) events_->append(row);
  save();
  return line;
}

void Training::check_model() const {
  require_finite(trained_.folder, trained_.parameters, trained_.optimizer, trained_.experiment,
                 position_.step, saved_step_);
}

void Training::check_and_save() {
  check_model();
  save();
}

/// The rows first: after a power failure the state must not be ahead of them.
void Training::save() {
  metrics_.sync();
  records_.recording.sync();
  records_.rows.sync();
  position_.seconds = now() - began_;
  position_.metrics = metrics_.content();
  save_state(trained_.folder, trained_.parameters, trained_.optimizer, position_);
  saved_step_ = position_.step;
  last_save_ = now();
}

/// The steps of a rank other than the first.
Outcome follow(const Trained& trained, const TrainingPlan& plan) {
  Position position;
  share_state(trained.parameters, trained.optimizer, position);
  StepRecords none;
  RankSteps rank_steps(trained.parameters, trained.optimizer, {});
  const CatchInterrupts catching;
  if (position.step == 0) evaluate(trained, position);
  for (const std::uint64_t total = steps_of(plan); position.step < total;) {
    const StepResult result = train_step(trained, none, rank_steps, position.step, 0);
    position.loss_sum += result.loss;
    ++position.step;
    if (position.step % plan.steps_per_epoch == 0 || position.step == total) evaluate(trained, position);
    if (result.interrupted && position.step < total) return Outcome::interrupted;
  }
  return Outcome::followed;
}

}  // namespace

std::vector<std::string> Experiment::shown_metrics() const {
  std::vector<std::string> names = metric_names();
  names.resize(std::min<size_t>(names.size(), 3));
  return names;
}

Outcome train(const RunFolder& folder, Parameters& parameters, Optimizer& optimizer, Experiment& experiment,
              const TrainingPlan& plan) {
  if (plan.steps_per_epoch == 0 || plan.last_epoch_steps > plan.steps_per_epoch)
    fail("training: epochs of ", plan.steps_per_epoch, " steps, the last one of ", plan.last_epoch_steps,
         "; give them at least one step, and the last one no more than the others");
  if (plan.epochs == 0 && plan.last_epoch_steps > 0)
    fail("training: 0 epochs, the last one of ", plan.last_epoch_steps, " steps; ask for at least one epoch");
  if (TrainingLook::taken({folder, parameters, optimizer, experiment, plan})) return Outcome::interrupted;
  if (distributed::is_shared() && !experiment.shares_batches())
    fail<UsageError>(
        "this experiment does not share its batches among ranks (see part_of_batch()); train it without "
        "mpirun");
  if (distributed::is_shared() && optimizer.updates_rows_only())
    fail<UsageError>(
        "the optimizer updates only the rows that a batch uses (update_only()), and each rank has other "
        "ones; "
        "train it without mpirun, or update all rows");
  const Trained trained{folder, parameters, optimizer, experiment};
  return distributed::is_first() ? Training(trained, plan).run() : follow(trained, plan);
}

}  // namespace lamina
