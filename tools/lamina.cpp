// The `lamina` command: one subcommand per experiment. Exit codes: 0 done, 1 bad data, 2 bad usage, 130
// stopped by Ctrl-C after saving.

#include <iostream>

#include "core/error.h"
#include "core/gemm.h"
#include "core/version.h"
#include "tools/commands.h"

namespace {

using namespace lamina;

int list_commands(const Command& program) {
  for (const Command& command : program.commands())
    if (command.name() != "list") std::cout << command.name() << "\t" << command.description() << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Command program("lamina",
                  "Lamina: every experiment of \"Layer Normalization\" (Ba, Kiros and Hinton 2016).");
  program.require_command();
  program.add_version(text("lamina ", version, ", commit ", commit(), ", ",
                           sizeof(real) == 4 ? "float" : "double", ", ", gemm_backend()));
  program.footer("Example: lamina mnist --norm none,batch,layer --preset small");
  add_mnist_command(program);
  add_stability_command(program);
  add_convnet_command(program);
  add_draw_command(program);
  add_order_embedding_command(program);
  add_handwriting_command(program);
  add_attentive_reader_command(program);
  add_data_command(program);
  add_skip_thoughts_command(program);
  add_invariance_command(program);
  add_geometry_command(program);
  add_inspect_command(program);
  add_graph_command(program);
  add_report_command(program);
  program.add_command("list", "lists the commands, one a line").action([&] {
    return list_commands(program);
  });
  return program.run(argc, argv);
}
