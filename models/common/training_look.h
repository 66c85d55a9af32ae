#pragma once
// A look at what train() is about to do, for tests that hold the settings of an experiment to the paper: they are
// seen as the command made them, on the model that would have been trained.

#include <functional>

#include "models/common/training.h"

namespace lamina {

/// What train() was called with.
struct TrainingStart {
  const RunFolder& folder;
  Parameters& parameters;
  Optimizer& optimizer;
  Experiment& experiment;
  const TrainingPlan& plan;
};

/// While one lives, train() on this thread calls `look` instead of training, and returns Outcome::interrupted.
class TrainingLook {
 public:
  explicit TrainingLook(std::function<void(const TrainingStart&)> look);
  TrainingLook(const TrainingLook&) = delete;
  TrainingLook& operator=(const TrainingLook&) = delete;
  ~TrainingLook();

  /// Whether somebody looks on this thread, who has now seen `start`.
  static bool taken(const TrainingStart& start);

 private:
  std::function<void(const TrainingStart&)> look_;
  TrainingLook* outer_;
};

}  // namespace lamina
