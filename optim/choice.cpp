#include "optim/choice.h"

#include "optim/adam.h"
#include "optim/sgd.h"

namespace lamina {

std::unique_ptr<Optimizer> make_optimizer(OptimizerKind kind, Parameters& parameters, real learning_rate) {
  if (kind == OptimizerKind::sgd)
    return std::make_unique<Sgd>(parameters, SgdOptions{.learning_rate = learning_rate});
  const auto correction = kind == OptimizerKind::adam ? BiasCorrection::betas : BiasCorrection::complements;
  return std::make_unique<Adam>(parameters,
                                AdamOptions{.learning_rate = learning_rate, .bias_correction = correction});
}

}  // namespace lamina
