#include "models/common/training.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "core/checkpoint.h"
#include "core/folder.h"
#include "core/tape.h"
#include "models/common/interrupt.h"
#include "models/common/metrics.h"
#include "models/common/progress.h"
#include "models/common/recorder.h"
#include "models/common/training_look.h"

namespace lamina {

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// All that the next step depends on, besides parameters and optimizer.
struct Position {
  std::uint64_t step = 0;  ///< steps done
  double loss_sum = 0;     ///< over the steps of the epoch under way
  double seconds = 0;      ///< spent so far, over all sittings
};

Checkpoint model_of(const Parameters& parameters) {
  Checkpoint model;
  for (const auto* entries : {&parameters.learned(), &parameters.state()})
    for (const auto& [name, value] : *entries) model.tensors.push_back({name, value});
  return model;
}

/// The name of `steps` among the metadata of `state`.
std::string steps_key(const Optimizer& optimizer) { return optimizer.name() + ".steps"; }

void save(const RunFolder& folder, const Parameters& parameters, const Optimizer& optimizer,
          const Position& position) {
  save_model(folder, parameters, "model.safetensors");
  Checkpoint state = model_of(parameters);
  for (const auto& [name, value] : optimizer.state()) state.tensors.push_back({name, value});
  state.metadata = {{"step", std::to_string(position.step)},
                    {steps_key(optimizer), std::to_string(optimizer.steps)},
                    {"loss_sum", exact(position.loss_sum)},
                    {"seconds", exact(position.seconds)}};
  save_checkpoint(folder.file("state"), state);
}

/// Copies a tensor of the checkpoint over one of the same name and shape.
void restore(const std::string& path, const Checkpoint& from, const std::string& name, Tensor& to) {
  const Tensor* const saved = from.find(name);
  if (saved == nullptr || saved->shape() != to.shape())
    fail<DataError>(path, ": does not fit this model: '", name, "' should be ", to.shape(), " and is ",
                    saved == nullptr ? "missing" : text(saved->shape()),
                    "; resume with the settings it began with");
  std::ranges::copy(saved->values(), to.data());
}

void restore(const std::string& path, const Checkpoint& from, const std::vector<Parameters::Entry>& entries) {
  for (auto [name, value] : entries) restore(path, from, name, value);
}

const std::string& metadata(const std::string& path, const Checkpoint& from, const std::string& key) {
  const auto entry = from.metadata.find(key);
  if (entry == from.metadata.end())
    fail<DataError>(path, ": holds no '", key, "'; it is not the state of a run");
  return entry->second;
}

Position load(const std::string& path, const Parameters& parameters, Optimizer& optimizer) {
  const Checkpoint state = load_checkpoint(path);
  const auto whole = [&](const std::string& key) {
    return std::strtoull(metadata(path, state, key).c_str(), nullptr, 10);
  };
  const auto number = [&](const char* key) {
    return std::strtod(metadata(path, state, key).c_str(), nullptr);
  };
  restore(path, state, parameters.learned());
  restore(path, state, parameters.state());
  restore(path, state, optimizer.state());
  optimizer.steps = whole(steps_key(optimizer));
  return {.step = whole("step"), .loss_sum = number("loss_sum"), .seconds = number("seconds")};
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
    fail<DataError>(
        folder.path(), ": the loss is ", value, " in step ", step + 1, ", first in the op '",
        culprit == nullptr ? "input" : culprit, "'; ",
        saved_step == 0 ? "nothing was saved yet" : text("the state of step ", saved_step, " is kept"),
        "; lower --lr or look for such values in the data");
  }
  tape.backward(loss);
  recorded.before_update();
  experiment.adjust_gradients();
  optimizer.step();
  recorded.after_update();
  return value;
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

}  // namespace

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
  return {.label = label, .steps_per_epoch = length, .epochs = steps / length, .epoch = period};
}

Outcome train(const RunFolder& folder, Parameters& parameters, Optimizer& optimizer, Experiment& experiment,
              const TrainingPlan& plan) {
  if (TrainingLook::taken({folder, parameters, optimizer, experiment, plan})) return Outcome::interrupted;
  const std::uint64_t total = updates_in(plan.epochs, plan.steps_per_epoch);
  std::vector<std::string> columns{plan.epoch, "step"};
  std::ranges::copy(experiment.metric_names(), std::back_inserter(columns));
  columns.emplace_back("seconds");

  const std::string state = folder.file("state");
  Position position;
  if (exists(state)) position = load(state, parameters, optimizer);
  MetricsFile metrics_file =
      MetricsFile::resume(folder.file("metrics.csv"), columns, static_cast<double>(position.step));
  Recording recording(folder, parameters, position.step);
  std::uint64_t saved_step = position.step;
  Progress progress({.total = static_cast<long>(total), .done = static_cast<long>(position.step)});
  const CatchInterrupts catching;
  const double began = now() - position.seconds;
  double last_save = now();

  while (position.step < total && !interrupted()) {
    const std::uint64_t epoch = position.step / plan.steps_per_epoch + 1;
    if (position.step % plan.steps_per_epoch == 0 || position.step == saved_step)
      progress.label(text(plan.label, ", ", plan.epoch, " ", epoch, "/", plan.epochs));
    position.loss_sum += train_step(folder, optimizer, experiment, recording, position.step, saved_step);
    ++position.step;
    progress.step();

    const bool epoch_ends = position.step % plan.steps_per_epoch == 0;
    if (epoch_ends) {
      Metrics row = experiment.evaluate(position.loss_sum / static_cast<double>(plan.steps_per_epoch));
      progress.line(describe(plan.label, epoch, plan, row));
      position.loss_sum = 0;
      position.seconds = now() - began;
      row.insert(row.begin(),
                 {{plan.epoch, static_cast<double>(epoch)}, {"step", static_cast<double>(position.step)}});
      row.emplace_back("seconds", position.seconds);
      metrics_file.append(row);
    }
    if (epoch_ends || now() - last_save > plan.save_every_seconds) {
      position.seconds = now() - began;
      save(folder, parameters, optimizer, position);
      saved_step = position.step;
      last_save = now();
    }
  }
  progress.finish();
  if (position.step >= total) return Outcome::finished;
  position.seconds = now() - began;
  save(folder, parameters, optimizer, position);
  return Outcome::interrupted;
}

void save_model(const RunFolder& folder, const Parameters& parameters, const std::string& file,
                std::map<std::string, std::string> metadata) {
  Checkpoint model = model_of(parameters);
  model.metadata = std::move(metadata);
  model.metadata.insert({{"format", "pt"}, {"experiment", folder.config().experiment}});
  save_checkpoint(folder.file(file), model);
}

void load_model(const RunFolder& folder, Parameters& parameters, const std::string& file) {
  const std::string path = folder.file(file);
  const Checkpoint model = load_checkpoint(path);
  restore(path, model, parameters.learned());
  restore(path, model, parameters.state());
}

double number_kept(const RunFolder& folder, const std::string& file, const std::string& name,
                   double otherwise) {
  const std::string path = folder.file(file);
  if (!exists(path)) return otherwise;
  const Checkpoint kept = load_checkpoint(path);
  const auto number = kept.metadata.find(name);
  if (number == kept.metadata.end())
    fail<DataError>(path, ": holds no '", name, "'; start a new run in another folder");
  return std::strtod(number->second.c_str(), nullptr);
}

std::string exact(double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%a", value);
  return buffer;
}

}  // namespace lamina
