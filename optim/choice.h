#pragma once
// The optimizers that an experiment can train with.

#include <memory>
#include <optional>
#include <string_view>

#include "optim/optimizer.h"

namespace lamina {

enum class OptimizerKind {
  adam,
  authors_adam,  ///< Adam with BiasCorrection::complements
  sgd
};

/// What an optimizer is called on the command line and in config.json. A new one has a row here and a case in
/// make_optimizer().
struct OptimizerEntry {
  OptimizerKind kind;
  const char* name;
};
inline constexpr OptimizerEntry optimizer_table[] = {{OptimizerKind::adam, "adam"},
                                                     {OptimizerKind::authors_adam, "authors-adam"},
                                                     {OptimizerKind::sgd, "sgd"}};

std::optional<OptimizerKind> optimizer_named(std::string_view name);

/// Make it when all parameters exist; the options that are not arguments have their defaults. `momentum` is that of SGD.
/// Throws Error for a learning rate that is not positive, and for a momentum that is outside [0, 1) or not SGD's.
std::unique_ptr<Optimizer> make_optimizer(OptimizerKind kind, Parameters& parameters, real learning_rate,
                                          real momentum = 0);

}  // namespace lamina
