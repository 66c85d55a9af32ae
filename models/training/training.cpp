#include "models/training/training.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/folder.h"
#include "core/math/random.h"
#include "core/tape.h"
#include "models/recording/recorder.h"
#include "models/run/interrupt.h"
#include "models/run/metrics.h"
#include "models/run/progress.h"
#include "models/run/run_state.h"
#include "models/training/training_look.h"

namespace lamina {

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr const char* diverged_file = "diverged.txt";

/// Stops a run that has diverged; nothing more is saved but the reason.
[[noreturn]] void stop(const RunFolder& folder, const std::string& what, const char* op,
                       std::uint64_t saved_step) {
  const std::string reason = text(what, op == nullptr ? "" : text(", first in the op '", op, "'"));
  write_file(folder.file(diverged_file), reason + '\n');
  fail<DataError>(
      folder.path(), ": ", reason, "; ",
      saved_step == 0 ? "nothing was saved yet" : text("the state of step ", saved_step, " is kept"),
      "; lower --lr or look for such values in the data");
}

/// One step; returns its loss.
double train_step(const RunFolder& folder, Optimizer& optimizer, Experiment& experiment, Recording& recording,
                  std::uint64_t step, std::uint64_t saved_step) {
  Recording::Step recorded(recording, step);
  Tape tape;
  const Tensor loss = experiment.loss(step);
  const double value = static_cast<double>(loss.item());
  if (!std::isfinite(value)) {
    const char* const culprit = first_non_finite(tape);
    stop(folder, text("the loss is ", number_text(value), " in step ", step + 1),
         culprit == nullptr ? "input" : culprit, saved_step);
  }
  tape.backward(loss);
  recorded.before_update();
  try {
    experiment.adjust_gradients();
  } catch (const NotFinite& error) {
    const std::string what = error.what();
    stop(folder, text("step ", step + 1, ": ", what.substr(0, what.find("; "))), nullptr, saved_step);
  }
  optimizer.step();
  recorded.after_update();
  return value;
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

std::string describe(const std::string& label, std::uint64_t epoch, const TrainingPlan& plan,
                     const Metrics& metrics) {
  std::string line = text(label, ", ", plan.epoch, " ", epoch, "/", plan.epochs, ":");
  for (const auto& [name, value] : metrics) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, " %.4g", value);
    line += text(" ", name, buffer);
  }
  return line;
}

/// One session of a run.
class Training {
 public:
  Training(const RunFolder& folder, Parameters& parameters, Optimizer& optimizer, Experiment& experiment,
           const TrainingPlan& plan)
      : folder_(folder),
        parameters_(parameters),
        optimizer_(optimizer),
        experiment_(experiment),
        plan_(plan),
        total_(steps_of(plan)),
        position_(load_state(folder, parameters, optimizer, total_)),
        metrics_(metrics_file()),
        recording_(folder, parameters, position_.step),
        saved_step_(position_.step),
        began_(now() - position_.seconds),
        last_save_(now()) {}

  Outcome run() {
    Progress progress({.total = static_cast<long>(total_), .done = static_cast<long>(position_.step)});
    const CatchInterrupts catching;
    while (position_.step < total_ && !interrupted()) {
      if (position_.step % plan_.steps_per_epoch == 0 || position_.step == saved_step_)
        progress.label(text(plan_.label, ", ", plan_.epoch, " ", epoch(), "/", plan_.epochs));
      position_.loss_sum +=
          train_step(folder_, optimizer_, experiment_, recording_, position_.step, saved_step_);
      ++position_.step;
      progress.step();
      if (position_.step % plan_.steps_per_epoch == 0 || position_.step == total_)
        progress.line(end_epoch());
      else if (now() - last_save_ > plan_.save_every_seconds)
        check_and_save();
    }
    progress.finish();
    if (position_.step >= total_) return Outcome::finished;
    check_and_save();
    return Outcome::interrupted;
  }

 private:
  static std::uint64_t steps_of(const TrainingPlan& plan) {
    const std::uint64_t missing =
        plan.last_epoch_steps == 0 ? 0 : plan.steps_per_epoch - plan.last_epoch_steps;
    return updates_in(plan.epochs, plan.steps_per_epoch) - missing;
  }

  /// The number, from 1, of the epoch that the next step belongs to.
  std::uint64_t epoch() const { return position_.step / plan_.steps_per_epoch + 1; }

  MetricsFile metrics_file() const;
  std::string end_epoch();
  void check_model() const;
  void check_and_save();
  void save();

  const RunFolder& folder_;
  Parameters& parameters_;
  Optimizer& optimizer_;
  Experiment& experiment_;
  const TrainingPlan& plan_;
  const std::uint64_t total_;
  Position position_;
  MetricsFile metrics_;
  Recording recording_;
  std::uint64_t saved_step_;
  const double began_;
  double last_save_;
};

/// metrics.csv as of when the state was saved.
MetricsFile Training::metrics_file() const {
  const std::string path = folder_.file("metrics.csv");
  std::vector<std::string> columns{plan_.epoch, "step"};
  std::ranges::copy(experiment_.metric_names(), std::back_inserter(columns));
  columns.emplace_back("seconds");
  if (position_.metrics) return MetricsFile::restore(path, std::move(columns), *position_.metrics);

  // Either nothing was saved, so the run was killed after its first row at the latest; or an older version
  // saved a state without rows.
  const size_t rows = rows_in(path), epochs = position_.step / plan_.steps_per_epoch;
  if (position_.step == 0 && rows > 1)
    fail<DataError>(path, ": holds ", rows, " rows, but ", folder_.file("state"),
                    " is missing; restore it, or start a new run in another folder");
  if (rows < epochs)
    fail<DataError>(path, ": lacks ", epochs - rows, " of the ", epochs,
                    " rows that the run has reported; restore it, or start a new run in another folder");
  return MetricsFile::resume(path, std::move(columns), static_cast<double>(position_.step));
}

/// Evaluates and saves; returns a line with the results.
std::string Training::end_epoch() {
  const std::uint64_t last = position_.step - 1, epoch = last / plan_.steps_per_epoch + 1;
  const std::uint64_t steps = last % plan_.steps_per_epoch + 1;
  check_model();
  Metrics row = experiment_.evaluate(position_.loss_sum / static_cast<double>(steps));
  require_finite(folder_, row, position_.step, saved_step_);
  std::string line = describe(plan_.label, epoch, plan_, row);
  position_.loss_sum = 0;
  row.insert(row.begin(),
             {{plan_.epoch, static_cast<double>(epoch)}, {"step", static_cast<double>(position_.step)}});
  row.emplace_back("seconds", now() - began_);
  metrics_.append(row);
  save();
  return line;
}

void Training::check_model() const {
  require_finite(folder_, parameters_, optimizer_, experiment_, position_.step, saved_step_);
}

void Training::check_and_save() {
  check_model();
  save();
}

/// The rows first: after a power failure the state must not be ahead of them.
void Training::save() {
  metrics_.sync();
  recording_.sync();
  position_.seconds = now() - began_;
  position_.metrics = metrics_.content();
  save_state(folder_, parameters_, optimizer_, position_);
  saved_step_ = position_.step;
  last_save_ = now();
}

}  // namespace

std::span<const int> EpochOrder::batch_of(std::uint64_t step) {
  constexpr std::uint64_t order_stream = 0x6f72646572;  // epochs draw their order apart from everything else
  const std::uint64_t epoch = step / steps_per_epoch();
  if (epoch != epoch_) {
    order_ = Random(seed_, order_stream).split(epoch).permutation(cases_);
    epoch_ = epoch;
  }
  return std::span(order_).subspan(step % steps_per_epoch() * batch_, batch_);
}

std::uint64_t updates_in(std::uint64_t epochs, std::uint64_t steps_per_epoch) {
  constexpr std::uint64_t most = std::uint64_t{1} << std::numeric_limits<double>::digits;
  if (steps_per_epoch > 0 && epochs > most / steps_per_epoch)
    fail<UsageError>("--epochs ", epochs, ": with ", steps_per_epoch, " updates each they are more than ",
                     most, "; choose at most ", most / steps_per_epoch);
  return epochs * steps_per_epoch;
}

TrainingPlan plan_in_periods(const std::string& label, std::uint64_t steps, std::uint64_t each,
                             const std::string& period) {
  const std::uint64_t length = std::min(steps, each);
  return {.label = label,
          .steps_per_epoch = length,
          .epochs = (steps - 1) / length + 1,
          .last_epoch_steps = steps % length,
          .epoch = period};
}

Outcome train(const RunFolder& folder, Parameters& parameters, Optimizer& optimizer, Experiment& experiment,
              const TrainingPlan& plan) {
  if (TrainingLook::taken({folder, parameters, optimizer, experiment, plan})) return Outcome::interrupted;
  return Training(folder, parameters, optimizer, experiment, plan).run();
}

}  // namespace lamina
