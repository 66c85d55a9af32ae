#pragma once
// One call of a command, several trainings: each in a folder of its own unless it is the only one. A call can
// be resumed, and the whole ends with a table and a figure.

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/common/training.h"
#include "tools/common_flags.h"
#include "tools/plot.h"

namespace lamina {

struct TrainingRuns {
  std::string command;             ///< "mnist", as on the command line
  std::string source;              ///< one line: what the data are
  std::vector<std::string> names;  ///< of the variants, and of their folders
  Settings settings;               ///< of all together
  std::function<Settings(size_t variant)> settings_alone;
  /// Trains one in its folder, from where it was.
  std::function<Outcome(const RunFolder& folder, size_t variant)> train;
  /// Once all are trained: a markdown table, and the panels of a figure.
  std::function<std::string()> summary;
  std::function<std::vector<Panel>()> figure;
};

template <class Variant>
std::vector<std::string> names_of(const std::vector<Variant>& variants) {
  std::vector<std::string> names(variants.size());
  std::ranges::transform(variants, names.begin(), &Variant::name);
  return names;
}

/// UsageError when a batch is larger than the training set, `cases` of what `called` says, or when the epochs
/// are more updates than a run can count.
void require_fitting(const CommonFlags& flags, size_t cases, const std::string& called);

/// With --resume the folder of a run of `command` to go on with, whose threads are used where the flags name
/// none; else nothing. `asked` are the settings as the command line has them: UsageError for a flag that was
/// given with another value than the run began with. Says in one line when the threads or the kernels are
/// others than the run began with, since its numbers then do not repeat bit by bit.
std::optional<RunFolder> folder_to_resume(const std::string& command, CommonFlags& flags,
                                          const Settings& asked);

/// Trains in `resumed`, or else in a new folder: `out`, or the default. Returns the exit code.
int train_all(const TrainingRuns& runs, const std::optional<RunFolder>& resumed, const std::string& out);

}  // namespace lamina
