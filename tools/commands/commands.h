#pragma once
// The subcommands of `lamina`, and the training steps of the experiments among them. Both are defined in the file <name>.cpp;
// new ones are added to the lists below.

#include "tools/flags/command_line.h"

namespace lamina {

struct NamedTrainingStep;

void add_demo_command(Command& program);
void add_stability_command(Command& program);
void add_invariance_command(Command& program);
void add_geometry_command(Command& program);
void add_order_embedding_command(Command& program);
void add_attentive_reader_command(Command& program);
void add_skip_thoughts_command(Command& program);
void add_draw_command(Command& program);
void add_handwriting_command(Command& program);
void add_mnist_command(Command& program);
void add_convnet_command(Command& program);
void add_transformer_command(Command& program);
void add_placement_command(Command& program);
void add_lab_command(Command& program);
void add_study_command(Command& program);
void add_inspect_command(Command& program);
void add_graph_command(Command& program);
void add_report_command(Command& program);
void add_data_command(Command& program);

NamedTrainingStep mnist_step();
NamedTrainingStep convnet_step();
NamedTrainingStep draw_step();
NamedTrainingStep handwriting_step();
NamedTrainingStep order_embedding_step();
NamedTrainingStep attentive_reader_step();
NamedTrainingStep skip_thoughts_step();
NamedTrainingStep transformer_step();

/// All of them, in the order of --help: the experiments as the paper has them, what came after it, and the tools.
inline constexpr void (*add_commands[])(Command& program) = {add_demo_command,
                                                             add_stability_command,
                                                             add_invariance_command,
                                                             add_geometry_command,
                                                             add_order_embedding_command,
                                                             add_attentive_reader_command,
                                                             add_skip_thoughts_command,
                                                             add_draw_command,
                                                             add_handwriting_command,
                                                             add_mnist_command,
                                                             add_convnet_command,
                                                             add_transformer_command,
                                                             add_placement_command,
                                                             add_lab_command,
                                                             add_study_command,
                                                             add_inspect_command,
                                                             add_graph_command,
                                                             add_report_command,
                                                             add_data_command};

/// In the order of training_steps().
inline constexpr NamedTrainingStep (*experiment_steps[])() = {
    mnist_step,           convnet_step,          draw_step,          handwriting_step,
    order_embedding_step, attentive_reader_step, skip_thoughts_step, transformer_step};

}  // namespace lamina
