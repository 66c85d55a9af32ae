#pragma once
// One training step outside of any run, for drawing, timing and analysis.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/parameters.h"
#include "core/tensor.h"
#include "layers/norms/norm.h"

namespace lamina {

struct TrainingStep {
  std::shared_ptr<Parameters> parameters;
  std::function<Tensor()>
      loss;  ///< computes the same loss at every call, but where batch renorm moves averages; keeps alive what it needs
  std::function<void()> use = {};  ///< the forward pass in evaluation, of those that are timed in use as well
};

struct TrainingStepOptions {
  Norm norm = Norm::none;
  size_t batch = 1;
};

/// That of an experiment, or of a layer, on random data.
struct NamedTrainingStep {
  std::string name;
  std::vector<Norm> norms;  ///< that it can be built with; the first is the default
  size_t batch;             ///< the default
  TrainingStep (*make)(const TrainingStepOptions& options);
  bool clips = false;  ///< the experiment's training reads all gradients, to clip them
};

}  // namespace lamina
