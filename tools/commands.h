#pragma once
// The subcommands of `lamina`. Each is defined in the file command_<name>.cpp.

#include "tools/command_line.h"

namespace lamina {

void add_mnist_command(Command& program);
void add_stability_command(Command& program);
void add_convnet_command(Command& program);
void add_draw_command(Command& program);
void add_order_embedding_command(Command& program);
void add_handwriting_command(Command& program);
void add_attentive_reader_command(Command& program);
void add_data_command(Command& program);
void add_skip_thoughts_command(Command& program);
void add_invariance_command(Command& program);
void add_geometry_command(Command& program);
void add_inspect_command(Command& program);
void add_graph_command(Command& program);
void add_report_command(Command& program);

}  // namespace lamina
