#include "models/recording/steps_file.h"

#include <algorithm>
#include <iostream>

namespace lamina {

namespace {

constexpr std::uint64_t rows_per_epoch = 50;

/// The least spacing with at most so many rows.
std::uint64_t spacing(std::uint64_t steps_per_epoch) {
  return std::max<std::uint64_t>(1, (steps_per_epoch + rows_per_epoch - 1) / rows_per_epoch);
}

}  // namespace

StepsFile::StepsFile(const RunFolder& folder, std::uint64_t steps_per_epoch, std::uint64_t last_step)
    : every_(spacing(steps_per_epoch)),
      file_(MetricsFile::resume(folder.file(steps_file),
                                {"step", "train_loss", "gradient_norm", "learning_rate"},
                                static_cast<double>(last_step))) {
  const size_t rows = table_of(file_->path(), file_->content()).rows.size();
  const std::uint64_t expected = (last_step + every_ - 1) / every_;
  if (rows < expected)
    std::cerr << file_->path() << ": lacks " << expected - rows << " of its " << expected
              << " rows up to step " << last_step << "; the run goes on without them\n";
}

void StepsFile::append(const StepRow& row) {
  file_->append({{"step", static_cast<double>(row.step)},
                 {"train_loss", row.train_loss},
                 {"gradient_norm", row.gradient_norm},
                 {"learning_rate", row.learning_rate}});
}

void StepsFile::sync() const {
  if (file_) file_->sync();
}

}  // namespace lamina
