#include "tools/optimizer_flag.h"

#include "core/error.h"

namespace lamina {

void add_optimizer_flag(Command& command, std::string& optimizer) {
  command
      .add("--optimizer", optimizer,
           "adam; authors-adam, which is the authors' public code with the betas swapped in its bias "
           "corrections: its rate is lr sqrt(1 - 0.001^t) / (1 - 0.1^t), so that early steps are 3.5 to 6.6 "
           "times Adam's; sgd without momentum, which needs --lr")
      .one_of({"adam", "authors-adam", "sgd"})
      .show_default();
}

OptimizerKind optimizer_from(const std::string& name) {
  if (name == "adam") return OptimizerKind::adam;
  if (name == "authors-adam") return OptimizerKind::authors_adam;
  if (name == "sgd") return OptimizerKind::sgd;
  fail<UsageError>("--optimizer ", name, ": no such optimizer; there are adam, authors-adam and sgd");
}

void require_learning_rate(const Command& command, const std::string& optimizer) {
  if (optimizer == "sgd" && !command.given("--lr"))
    fail<UsageError>("--optimizer sgd: give its learning rate with --lr; that of the preset is Adam's");
}

}  // namespace lamina
