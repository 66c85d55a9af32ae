// lamina mnist: Section 6.6 and Figure 6.

#include "models/mnist/experiment.h"
#include "tools/commands.h"
#include "tools/digit_command.h"

namespace lamina {

void add_mnist_command(Command& program) {
  Command& command = program.add_command("mnist", "permutation-invariant MNIST (Section 6.6, Figure 6)");
  command.footer("Example: lamina mnist --data mnist --norm none,batch,layer --batch 128,4 --epochs 10");
  const auto flags = std::make_shared<CommonFlags>();
  add_common_flags(command, *flags, {"layer", "none", "batch", "weight"});
  command.action([flags] {
    const auto make = [](const MnistData& data, const DigitOptions& options) {
      return std::make_unique<mnist::MnistExperiment>(data, options);
    };
    return run_digit_command({.name = "mnist", .make = make}, *flags);
  });
}

}  // namespace lamina
