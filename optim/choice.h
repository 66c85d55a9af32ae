#pragma once
// The optimizers that an experiment can train with.

#include <memory>

#include "optim/optimizer.h"

namespace lamina {

enum class OptimizerKind {
  adam,
  authors_adam,  ///< Adam with BiasCorrection::complements
  sgd
};

/// Make it when all parameters exist; the options that are not arguments have their defaults. `momentum` is that of SGD.
/// Throws Error for a learning rate that is not positive, and for a momentum that is outside [0, 1) or not SGD's.
std::unique_ptr<Optimizer> make_optimizer(OptimizerKind kind, Parameters& parameters, real learning_rate,
                                          real momentum = 0);

}  // namespace lamina
