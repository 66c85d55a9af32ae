#include "optim/choice.h"

#include "optim/adam.h"
#include "optim/sgd.h"

namespace lamina {

std::optional<OptimizerKind> optimizer_named(std::string_view name) {
  for (const OptimizerEntry& entry : optimizer_table)
    if (name == entry.name) return entry.kind;
  return std::nullopt;
}

std::unique_ptr<Optimizer> make_optimizer(OptimizerKind kind, Parameters& parameters, real learning_rate,
                                          real momentum) {
  if (momentum != 0 && kind != OptimizerKind::sgd)
    fail("optimizer: momentum ", momentum, " for Adam, which has its betas; leave it out or take SGD");
  const auto adam = [&](BiasCorrection correction) {
    return std::make_unique<Adam>(parameters,
                                  AdamOptions{.learning_rate = learning_rate, .bias_correction = correction});
  };
  switch (kind) {
    case OptimizerKind::adam:
      return adam(BiasCorrection::betas);
    case OptimizerKind::authors_adam:
      return adam(BiasCorrection::complements);
    case OptimizerKind::sgd:
      return std::make_unique<Sgd>(parameters,
                                   SgdOptions{.learning_rate = learning_rate, .momentum = momentum});
  }
  fail("optimizer: there is none with the number ", static_cast<int>(kind));
}

}  // namespace lamina
