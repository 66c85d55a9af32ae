#pragma once
// The subcommands of `lamina`. Each is defined in the file command_<name>.cpp and sets `action` when chosen.

#include <CLI/CLI.hpp>
#include <functional>

namespace lamina {

using Action = std::function<int()>;  ///< returns the exit code

void add_mnist_command(CLI::App& program, Action& action);
void add_stability_command(CLI::App& program, Action& action);
void add_convnet_command(CLI::App& program, Action& action);
void add_draw_command(CLI::App& program, Action& action);
void add_order_embedding_command(CLI::App& program, Action& action);
void add_skip_thoughts_command(CLI::App& program, Action& action);
void add_invariance_command(CLI::App& program, Action& action);
void add_geometry_command(CLI::App& program, Action& action);
void add_inspect_command(CLI::App& program, Action& action);
void add_graph_command(CLI::App& program, Action& action);
void add_report_command(CLI::App& program, Action& action);

}  // namespace lamina
