#pragma once
// A hook into train(), for tests that compare the settings of an experiment with the paper: they see the
// settings that the command made, on the model that would have been trained.

#include <functional>

#include "models/training/training.h"

namespace lamina {

/// The arguments of train().
struct TrainingStart {
  const RunFolder& folder;
  Parameters& parameters;
  Optimizer& optimizer;
  Experiment& experiment;
  const TrainingPlan& plan;
};

/// While one exists, train() on this thread calls `look` instead of training, and returns
/// Outcome::interrupted.
class TrainingLook {
 public:
  explicit TrainingLook(std::function<void(const TrainingStart&)> look);
  TrainingLook(const TrainingLook&) = delete;
  TrainingLook& operator=(const TrainingLook&) = delete;
  ~TrainingLook();

  /// Whether there is a TrainingLook on this thread; if so, it has been called with `start`.
  static bool taken(const TrainingStart& start);

 private:
  std::function<void(const TrainingStart&)> look_;
  TrainingLook* outer_;
};

}  // namespace lamina
