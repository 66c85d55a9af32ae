// lamina inspect: what happened inside a run's layers, as tables, CSV and figures.

#include <iostream>

#include "core/files/file.h"
#include "models/analysis/inspect.h"
#include "tools/commands/commands.h"
#include "tools/results/aligned_table.h"
#include "tools/results/palette.h"
#include "tools/results/plot.h"

namespace lamina {

namespace {

struct InspectFlags {
  std::string run, layer, out;
};

struct PanelPlan {
  const char *title, *quantity;
  bool log_y;
  bool of_weights = false;  ///< of all weights, and of nothing else that has the quantity
};

constexpr PanelPlan step_panels[] = {
    {"Summed inputs: mean", "summed_inputs.mean", false},
    {"Their deviation over units", "summed_inputs.deviation_over_units", true},
    {"Their deviation over cases", "summed_inputs.deviation_over_cases", true},
    {"Length of weight vectors", "length.mean", false},
    {"Angle turned per update [rad]", "angle.mean", true},
    {"Relative change per update", "change.mean", true},
    {"Gradient of weights", "gradient", true, true},
    {"Gains: mean", "gain.mean", false},
    {"Dead units (fraction)", "outputs.dead", false}};

constexpr PanelPlan time_panels[] = {
    {"Summed inputs: deviation over units", "summed_inputs.deviation_over_units", true},
    {"Length of h_t", "hidden.length", true},
    {"Length of dL/dh_t", "hidden.gradient", true}};

/// Everything that was recorded, against training steps.
std::vector<Panel> figure_over_steps(const std::vector<RecordRow>& rows) {
  std::vector<Panel> panels;
  for (const PanelPlan& plan : step_panels) {
    Panel panel{.title = plan.title, .x_label = "training step", .log_y = plan.log_y};
    for (const Series& series : plan.of_weights ? weight_gradients(rows) : over_steps(rows, plan.quantity))
      panel.curves.push_back({.title = series.title, .x = series.x, .y = series.y});
    if (!panel.curves.empty()) panels.push_back(panel);
  }
  return panels;
}

/// Recurrent layers against time: dashed in the first recorded step, solid in the last.
std::vector<Panel> figure_over_time(const std::vector<RecordRow>& rows) {
  std::vector<Panel> panels;
  for (const PanelPlan& plan : time_panels) {
    Panel panel{.title = plan.title, .x_label = "time step t", .log_y = plan.log_y};
    for (const std::uint64_t step : {rows.front().step, rows.back().step}) {
      const bool last = step == rows.back().step;
      size_t color = 0;
      for (const Series& series : over_time(rows, plan.quantity, step))
        panel.curves.push_back({.title = text(series.title, ", step ", step),
                                .x = series.x,
                                .y = series.y,
                                .line = last ? Line::solid : Line::dashed,
                                .color = plain_color(color++)});
      if (last) break;
    }
    if (!panel.curves.empty()) panels.push_back(panel);
  }
  return panels;
}

void draw(const std::string& path, const std::vector<Panel>& panels) {
  if (!panels.empty() && write_figure(path, panels))
    std::cout << "figure: " << path << ".svg, " << path << ".png\n";
}

void run(const InspectFlags& flags) {
  const RunFolder folder = RunFolder::open(flags.run);
  const Inspection all = inspect(folder);
  const Inspection seen = flags.layer.empty() ? all : only_layer(all, flags.layer);
  const std::string out = flags.out.empty() ? folder.path() : flags.out;
  make_folder(out);
  const RunConfig& config = folder.config();
  std::cout << flags.run << ": lamina " << config.experiment << ' ' << config.variant << '\n';
  if (!seen.tensors.empty()) {
    std::cout << "\nThe saved model; of weights the lengths of their vectors:\n\n"
              << aligned_tables(tensor_table(seen.tensors));
    write_file(out + "/inspect.csv", to_csv(seen.tensors));
    std::cout << "\ntable: " << out << "/inspect.csv\n";
  }
  if (seen.rows.empty()) {
    std::cout << "\nNothing was recorded while it trained; to see that too: lamina " << config.experiment
              << " ... --record every=100\n";
    return;
  }
  const std::uint64_t first = seen.rows.front().step, last = seen.rows.back().step;
  for (const std::uint64_t step : {first, last}) {
    std::cout << "\nIn training step " << step << " (" << folder.file("record.csv") << "):\n\n"
              << aligned_tables(step_tables(seen.rows, step));
    if (first == last) break;
  }
  std::cout << '\n';
  draw(out + "/inspect", figure_over_steps(seen.rows));
  draw(out + "/inspect-time", figure_over_time(seen.rows));
}

}  // namespace

void add_inspect_command(Command& program) {
  Command& command =
      program.add_command("inspect", "the layers of a run: summed inputs, weights, updates, gradients",
                          "Example: lamina mnist --preset small --record every=20 --out runs/first\n"
                          "         lamina inspect runs/first --layer hidden1");
  const auto flags = std::make_shared<InspectFlags>();
  command.add("run", flags->run, "folder of the run").required();
  command.add("--layer", flags->layer, "only this layer, and the layers inside it");
  command.add("--out", flags->out, "folder for CSV and figures; by default the run's");
  command.action([flags] { run(*flags); });
}

}  // namespace lamina
