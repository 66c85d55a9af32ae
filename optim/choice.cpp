#include "optim/choice.h"

#include <algorithm>
#include <iterator>

#include "optim/adam.h"
#include "optim/sgd.h"

namespace lamina {

const OptimizerEntry* optimizer_named(std::string_view name) {
  const auto* const found = std::ranges::find(optimizer_table, name, &OptimizerEntry::name);
  return found == std::end(optimizer_table) ? nullptr : found;
}

std::unique_ptr<Optimizer> make_optimizer(OptimizerKind kind, Parameters& parameters, real learning_rate,
                                          real momentum) {
  if (momentum != 0 && kind != OptimizerKind::sgd)
    fail("optimizer: momentum ", momentum, " for an optimizer that is not SGD; leave it out or take SGD");
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
