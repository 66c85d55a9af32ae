// lamina graph: the tape of one training step as a picture, or as a table of where the time goes.

#include <algorithm>
#include <iostream>

#include "core/files/file.h"
#include "core/threads/parallel.h"
#include "models/analysis/tape_graph.h"
#include "models/run/metrics.h"
#include "models/run/run_folder.h"
#include "tools/commands/commands.h"
#include "tools/commands/training_steps.h"
#include "tools/flags/training/common_flags.h"
#include "tools/programs/run_program.h"
#include "tools/results/aligned_table.h"

namespace lamina {

namespace {

struct GraphFlags {
  std::string experiment, norm, out;
  size_t batch = 0, repeat = 5;
  int threads = 0;
  bool collapse = false, profile = false;
};

std::string names() { return joined(training_steps(), &NamedTrainingStep::name); }

Norm norm_for(const NamedTrainingStep& step, const std::string& name) {
  if (name.empty()) return step.norms.front();
  for (const Norm norm : step.norms)
    if (name == name_of(norm)) return norm;
  fail<UsageError>("--norm ", name, ": ", step.name, " is built with one of ", joined(step.norms, name_of));
}

/// Writes the graph, and the picture when Graphviz is there.
void draw(const std::string& path, const TapeGraph& graph) {
  const std::string dot = to_dot(graph);
  write_file(path + ".dot", dot);
  std::cout << "graph: " << path << ".dot (" << graph.nodes.size() << " nodes, " << graph.edges.size()
            << " edges)\n";
  const DrawingProgram graphviz{.command = {"dot", "-Tsvg"}, .package = "Graphviz", .name = "Graphviz's dot"};
  if (draw_by(graphviz, dot, path + ".svg")) std::cout << "figure: " << path << ".svg\n";
}

void run(const GraphFlags& flags) {
  const NamedTrainingStep* const found = find_training_step(flags.experiment);
  if (found == nullptr)
    fail<UsageError>("graph ", flags.experiment, ": no such experiment; there are ", names());
  const NamedTrainingStep& named = *found;
  const Norm norm = norm_for(named, flags.norm);
  set_threads(flags.threads);
  const size_t batch = flags.batch > 0 ? flags.batch : named.batch;
  TapeGraph graph = trace(named.make({.norm = norm, .batch = batch}), flags.repeat);
  if (flags.collapse) graph = collapse(graph);
  std::cout << named.name << ", norm " << name_of(norm) << ", batch " << batch << ", " << threads()
            << " threads; each time is the shortest of " << flags.repeat << "\n\n";
  if (flags.profile) {
    std::cout << aligned_tables(profile_table(graph));
    return;
  }
  const std::string out = flags.out.empty() ? "runs/graph-" + named.name : flags.out;
  make_folder(out);
  draw(out + (flags.collapse ? "/layers" : "/tape"), graph);
}

}  // namespace

void add_graph_command(Command& program) {
  Command& command =
      program.add_command("graph", "the tape of one training step: a picture, or where its time goes",
                          "Example: lamina graph mnist --norm layer --batch 128 --collapse\n"
                          "         lamina graph lstm --norm layer --profile");
  const auto flags = std::make_shared<GraphFlags>();
  command.add("experiment", flags->experiment, "one of " + names()).required();
  command.add("--norm", flags->norm, "normalization; by default layer");
  command.add("--batch", flags->batch, "cases; by default the experiment's").range(1, 1000000);
  command.add("--collapse", flags->collapse, "one node a layer instead of one an op");
  const Flag profile =
      command.add("--profile", flags->profile, "print a table sorted by time instead of drawing");
  command.add("--repeat", flags->repeat, "how often to run the step; the shortest times count")
      .range(1, 1000)
      .show_default();
  add_threads_flag(command, flags->threads);
  command.add("--out", flags->out, "folder for the graph; by default runs/graph-EXPERIMENT")
      .excludes(profile);
  command.action([flags] { run(*flags); });
}

}  // namespace lamina
