#include "optim/choice.h"

#include "optim/adam.h"
#include "optim/sgd.h"

namespace lamina {

std::unique_ptr<Optimizer> make_optimizer(OptimizerKind kind, Parameters& parameters, real learning_rate,
                                          real momentum) {
  if (kind == OptimizerKind::sgd)
    return std::make_unique<Sgd>(parameters,
                                 SgdOptions{.learning_rate = learning_rate, .momentum = momentum});
  if (momentum != 0)
    fail("optimizer: momentum ", momentum, " for Adam, which has its betas; leave it out or take SGD");
  const auto correction = kind == OptimizerKind::adam ? BiasCorrection::betas : BiasCorrection::complements;
  return std::make_unique<Adam>(parameters,
                                AdamOptions{.learning_rate = learning_rate, .bias_correction = correction});
}

}  // namespace lamina
