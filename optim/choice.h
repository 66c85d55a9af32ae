#pragma once
// The optimizers that an experiment can train with.

#include <memory>

#include "optim/optimizer.h"

namespace lamina {

enum class OptimizerKind {
  adam,
  authors_adam,  ///< Adam with BiasCorrection::complements
  sgd            ///< without momentum
};

/// Make it when all parameters exist; the options that are not arguments have their defaults. Throws Error
/// for a learning rate that is not positive.
std::unique_ptr<Optimizer> make_optimizer(OptimizerKind kind, Parameters& parameters, real learning_rate);

}  // namespace lamina
