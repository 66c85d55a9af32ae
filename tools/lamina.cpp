// The `lamina` command: one subcommand per experiment. Exit codes: 0 done, 1 bad data, 2 bad usage, 130
// stopped by Ctrl-C after saving.

#include <cstring>
#include <iostream>

#include "core/error.h"
#include "core/gemm.h"
#include "core/version.h"
#include "tools/commands.h"

namespace {

using namespace lamina;

constexpr int exit_data = 1, exit_usage = 2;

int report(const std::exception& error, int code) {
  std::cout << std::flush;
  std::cerr << "lamina: " << error.what() << '\n';
  return code;
}

void list_commands(const CLI::App& program) {
  for (const CLI::App* command : program.get_subcommands({}))
    if (command->get_name() != "list")
      std::cout << command->get_name() << "\t" << command->get_description() << '\n';
}

/// A mistake on the command line is one line; help and version are what was asked for.
int explain(CLI::App& program, const CLI::ParseError& problem) {
  if (problem.get_exit_code() == 0) return program.exit(problem);
  const auto chosen = program.get_subcommands();
  std::cerr << "lamina: " << problem.what() << "; see lamina"
            << (chosen.empty() ? "" : " " + chosen[0]->get_name()) << " --help\n";
  return exit_usage;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App program("Lamina: every experiment of \"Layer Normalization\" (Ba, Kiros and Hinton 2016).",
                   "lamina");
  program.require_subcommand(1);
  program.set_version_flag("--version", text("lamina ", version, ", ", sizeof(real) == 4 ? "float" : "double",
                                             ", ", gemm_backend()));
  program.footer("Example: lamina mnist --norm none,batch,layer --preset small");
  Action action;
  add_mnist_command(program, action);
  add_stability_command(program, action);
  add_convnet_command(program, action);
  add_draw_command(program, action);
  add_order_embedding_command(program, action);
  add_skip_thoughts_command(program, action);
  add_invariance_command(program, action);
  add_geometry_command(program, action);
  add_inspect_command(program, action);
  add_graph_command(program, action);
  add_report_command(program, action);
  program.add_subcommand("list", "lists the commands, one a line")->callback([&] {
    action = [&] {
      list_commands(program);
      return 0;
    };
  });
  try {
    program.parse(argc, argv);
    return action();
  } catch (const CLI::ParseError& problem) {
    return explain(program, problem);
  } catch (const UsageError& error) {
    return report(error, exit_usage);
  } catch (const std::bad_alloc&) {
    return report(Error("out of memory; choose a smaller --batch or --preset small"), exit_data);
  } catch (const std::exception& error) {
    return report(error, exit_data);
  }
}
