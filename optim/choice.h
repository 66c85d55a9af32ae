#pragma once
// The optimizers that an experiment can be asked to train with.

#include <memory>

#include "optim/optimizer.h"

namespace lamina {

enum class OptimizerKind {
  adam,
  authors_adam,  ///< Adam with BiasCorrection::complements
  sgd            ///< without momentum
};

/// Of parameters that all exist already; what is not chosen here has its default. Throws Error for a learning
/// rate that is not positive.
std::unique_ptr<Optimizer> make_optimizer(OptimizerKind kind, Parameters& parameters, real learning_rate);

}  // namespace lamina
