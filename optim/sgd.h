#pragma once
// Stochastic gradient descent with momentum.

#include "optim/optimizer.h"

namespace lamina {

struct SgdOptions {
  real learning_rate = real(1e-2);
  real momentum = 0;
  bool nesterov = false;
  real weight_decay = 0;  ///< g += weight_decay * w
  std::vector<ParameterGroup> groups = {};
};

/// velocity = momentum velocity + g;  w -= learning_rate * velocity
/// (Nesterov: w -= learning_rate * (g + momentum velocity))
class Sgd final : public Optimizer {
 public:
  /// Throws Error for a learning rate that is not positive or a momentum outside [0, 1).
  Sgd(Parameters& parameters, const SgdOptions& options);

  void step() override;
  std::vector<Parameters::Entry> state() const override { return {{"sgd.velocity", velocity}}; }

  SgdOptions options;  ///< learning rates and decays may be changed between steps
  Tensor velocity;     ///< in the layout of parameters.values()
};

}  // namespace lamina
