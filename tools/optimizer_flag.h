#pragma once
// --optimizer, for the experiments whose public code has an Adam of its own (Sections 6.1 and 6.3).

#include <string>

#include "optim/choice.h"
#include "tools/common_flags.h"

namespace lamina {

/// Adds the flag to a subcommand that has the common flags.
void add_optimizer_flag(Command& command, std::string& optimizer);

/// What a value of the flag, or of the setting that keeps it, stands for.
OptimizerKind optimizer_from(const std::string& name);

/// Throws UsageError for sgd without --lr: the presets have a learning rate for Adam alone.
void require_learning_rate(const Command& command, const std::string& optimizer);

}  // namespace lamina
