#pragma once
// steps.csv: single updates of a run, so that curves move within an epoch. Between 25 and 50 for each epoch of 50 updates or more, the
// first update of the run among them.
//
//   step,train_loss,gradient_norm,learning_rate
//   1,2.302585,1.75,0.001
//
// FILES.md beside this file defines the columns. A reader calls read_table(folder.file(steps_file)) of
// models/run/metrics.h, also while the run goes on; `step` counts updates as in metrics.csv, so both share an axis. Runs
// of older versions have no such file. What the model was like before the first update is in initial.csv: the columns of
// metrics.csv, in one row of epoch 0 and step 0 that has no training loss.

#include <cstdint>
#include <optional>
#include <string>

#include "models/run/metrics.h"
#include "models/run/run_folder.h"

namespace lamina {

inline constexpr const char* steps_file = "steps.csv";
inline constexpr const char* initial_file = "initial.csv";

/// One row.
struct StepRow {
  std::uint64_t step = 0;    ///< from 1
  double train_loss = 0;     ///< of the batch, before the update
  double gradient_norm = 0;  ///< before it is clipped; after derivatives that the backward pass clips
  double learning_rate = 0;
};

/// The steps.csv of a run in progress; a default-constructed one writes none.
class StepsFile {
 public:
  StepsFile() = default;
  /// Of a run that has been saved after `last_step` updates: later rows are removed, since those updates come again.
  /// Prints one line when rows of earlier ones are missing. DataError when the file is damaged.
  StepsFile(const RunFolder& folder, std::uint64_t steps_per_epoch, std::uint64_t last_step);

  /// The update after every so many others has a row, the first one too; 0: none has.
  std::uint64_t every() const { return file_ ? every_ : 0; }
  /// Whether the update after this many others has a row.
  bool has_row(std::uint64_t steps_done) const { return file_ && steps_done % every_ == 0; }
  /// Appends it and hands it to the system. DataError when the disk is full.
  void append(const StepRow& row);
  /// Returns once all rows are on the disk.
  void sync() const;

 private:
  std::uint64_t every_ = 1;
  std::optional<MetricsFile> file_;
};

}  // namespace lamina
