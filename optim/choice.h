#pragma once
// The optimizers that an experiment can train with.

#include <memory>
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
  const char* about;    ///< in --help, after the name; may be empty
  bool at_adams_rates;  ///< whether it learns at the learning rates of the presets, which are Adam's
};
inline constexpr OptimizerEntry optimizer_table[] = {
    {OptimizerKind::adam, "adam", "", true},
    {OptimizerKind::authors_adam, "authors-adam",
     "which is the authors' public code with the betas swapped in its bias corrections: its rate is "
     "lr sqrt(1 - 0.001^t) / (1 - 0.1^t), so that early steps are 3.5 to 6.6 times Adam's",
     true},
    {OptimizerKind::sgd, "sgd", "", false}};

const OptimizerEntry* optimizer_named(std::string_view name);

/// Make it when all parameters exist; the options that are not arguments have their defaults. `momentum` is that of SGD.
/// Throws Error for a learning rate that is not positive, and for a momentum that is outside [0, 1) or not SGD's.
std::unique_ptr<Optimizer> make_optimizer(OptimizerKind kind, Parameters& parameters, real learning_rate,
                                          real momentum = 0);

}  // namespace lamina
