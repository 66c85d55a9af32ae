#include "tools/flags/training/common_flags.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "core/error.h"
#include "models/run/metrics.h"
#include "tools/flags/flag_value.h"

namespace lamina {

namespace {

/// N of "every=N"; UsageError for anything else.
size_t every_of(const std::string& value) {
  constexpr std::string_view prefix = "every=";
  const std::string_view number =
      value.starts_with(prefix) ? std::string_view(value).substr(prefix.size()) : "";
  const std::int64_t every = number_from<std::int64_t>(number).value_or(0);
  if (every < 1) fail<UsageError>("'", value, "' is not every=N; write --record every=100");
  return static_cast<size_t>(every);
}

}  // namespace

CommonFlags::CommonFlags(Command& command, const std::vector<std::string>& norm_names,
                         const CommonDefaults& defaults)
    : norms{norm_names.front()}, fields(command) {
  fields.add("--norm", norms, "normalization, or several separated by commas")
      .separated_by_commas()
      .one_of(norm_names)
      .show_default(norm_names.front());
  fields.add("--preset", preset, "sizes and lengths: the paper's, or small ones for a first look")
      .one_of({"paper", "small"})
      .show_default("small; with --data paper");
  fields.add("--data", data_folder, "folder with the original files; without it, built-in data");
  fields.add("--seed", seed, "of all random numbers").non_negative().show_default();
  add_threads_flag(command, threads);
  epochs_flag = fields.add("--epochs", epochs, "passes over the training data", defaults.epochs).positive();
  fields
      .add("--batch", batches,
           defaults.one_batch ? "cases per step, one size at a time"
                              : "cases per step, or several sizes separated by commas",
           {.paper = {defaults.batch}, .small = {defaults.small_batch}})
      .separated_by_commas()
      .positive();
  fields.add("--lr", learning_rate, "learning rate", defaults.learning_rate).positive();
  command.add_read(
      "--record", [this](const std::string& value) { record_every = every_of(value); },
      "every=N: look into every N-th step and write what is seen to record.csv, for lamina inspect");
  fields.add("--tensorboard", tensorboard,
             "write the metrics as TensorBoard's events, too, into the run's folder", {.required = false});
  fields.keep("record", record_every);
  fields.keep("smoke", smoke);
  command.add("--out", out, "folder of the run; by default a new one under runs/");
  const Flag resumes = command.add(
      "--resume", resume,
      "go on with the run in --out, with the settings it began with, or with more --epochs or --updates");
  command
      .add("--seeds", seeds,
           "how many, from --seed on: a study with a run for each, as of lamina study; the same command goes "
           "on with it")
      .range(1, 1000)
      .excludes(resumes);
}

void CommonFlags::require_pairs() const {
  const auto of_batch =
      std::ranges::find_if(norms, [](const auto& name) { return name.starts_with("batch"); });
  if (of_batch != norms.end() && std::ranges::find(batches, size_t{1}) != batches.end())
    fail<UsageError>("--batch 1: a single case has no variance, which --norm ", *of_batch,
                     " needs; give 2 or more, or another --norm");
}

void add_threads_flag(Command& command, int& threads) {
  command.add("--threads", threads, "worker threads; 0: as LAMINA_THREADS says, or one per core")
      .range(0, 1024)
      .show_default();
}

size_t smoke_epochs() {
  const char* const value = std::getenv("LAMINA_SMOKE");
  if (value == nullptr || *value == '\0') return 0;
  char* end = nullptr;
  const long epochs = std::strtol(value, &end, 10);
  return end == value ? 1 : static_cast<size_t>(std::max(0L, epochs));
}

}  // namespace lamina
