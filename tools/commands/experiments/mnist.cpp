// lamina mnist: Section 6.6 and Figure 6.

#include "models/mnist/experiment.h"
#include "tools/commands/commands.h"
#include "tools/flags/training/digit_command.h"

namespace lamina {

NamedTrainingStep mnist_step() {
  return {.name = "mnist",
          .norms = {Norm::layer, Norm::none, Norm::batch, Norm::weight, Norm::ghost, Norm::renorm,
                    Norm::standardized},
          .batch = 128,
          .make = digit_step<mnist::MnistExperiment>};
}

void add_mnist_command(Command& program) {
  Command& command = program.add_command(
      "mnist", "permutation-invariant MNIST (Section 6.6, Figure 6)",
      "Example: lamina mnist --data mnist --norm none,batch,layer --batch 128,4 --epochs 10");
  const auto mnist = std::make_shared<DigitCommandOf<mnist::MnistExperiment>>(
      command, mnist_step(), CommonDefaults{.epochs = {.paper = 60, .small = 5}});
  command.action([mnist] { return mnist->run(); });
}

}  // namespace lamina
