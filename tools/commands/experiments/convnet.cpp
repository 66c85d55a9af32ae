// lamina convnet: our experiment on Section 6.7. Trains a small convolutional network with each chosen
// normalization and batch size, or, with --stats, looks at the feature maps of networks that were trained.

#include <iostream>

#include "core/files/file.h"
#include "core/threads/parallel.h"
#include "models/convnet/experiment.h"
#include "models/convnet/positions.h"
#include "tools/commands/commands.h"
#include "tools/flags/training/digit_command.h"
#include "tools/results/aligned_table.h"

namespace lamina {

namespace {

/// One heat map for each layer and statistic.
std::vector<Panel> maps_of(const std::vector<convnet::PositionStatistics>& layers) {
  std::vector<Panel> panels;
  for (size_t i = 0; i < layers.size(); ++i) {
    const convnet::PositionStatistics& s = layers[i];
    const auto add = [&](const std::string& title, const std::vector<double>& values) {
      panels.push_back({.title = text("conv ", i + 1, ": ", title),
                        .x_label = "column",
                        .y_label = "row",
                        .heat_map = HeatMap{.rows = s.height, .columns = s.width, .values = values}});
    };
    add("mean of summed inputs", s.input_mean);
    add("deviation of summed inputs", s.input_deviation);
    add("fraction active", s.active);
  }
  return panels;
}

class ConvnetCommand final : public DigitCommandOf<convnet::ConvnetExperiment> {
 public:
  explicit ConvnetCommand(Command& command)
      : DigitCommandOf(command, convnet_step(), {.epochs = {.paper = 20, .small = 2}}) {}

  /// Writes positions.csv, positions.md and the figure positions.svg into the folder of a trained network.
  void study(const RunFolder& folder) {
    load_again(folder);
    convnet::ConvnetExperiment experiment(data(), options());
    load_model(folder, experiment.parameters);
    const auto layers = convnet::position_statistics(experiment.model, data().test);
    write_file(folder.file("positions.csv"), convnet::to_csv(layers));
    const std::string table = convnet::border_table(layers);
    write_file(folder.file("positions.md"), table);
    std::cout << folder.config().variant << ": " << data().source << "\n\n"
              << aligned_tables(table) << std::endl;
    if (write_figure(folder.file("positions"), maps_of(layers)))
      std::cout << "figure: " << folder.file("positions.svg") << ", " << folder.file("positions.png")
                << "\n\n";
  }
};

}  // namespace

NamedTrainingStep convnet_step() {
  return {.name = "convnet",
          .norms = {Norm::layer, Norm::none, Norm::batch, Norm::group, Norm::layer_interior, Norm::ghost,
                    Norm::renorm, Norm::standardized},
          .batch = 128,
          .make = digit_step<convnet::ConvnetExperiment>};
}

void add_convnet_command(Command& program) {
  Command& command = program.add_command(
      "convnet", "a small convolutional network on MNIST (Section 6.7)",
      "Example: lamina convnet --data mnist --norm none,batch,layer,group --batch 128,4 --out runs/convnet\n"
      "         lamina convnet --stats runs/convnet");
  const auto convnet = std::make_shared<ConvnetCommand>(command);
  const auto stats = std::make_shared<std::string>();
  command.add("--stats", *stats,
              "instead of training: statistics of every position of the feature maps, border against "
              "centre, for the run in this folder");
  command.action([&command, convnet, stats] {
    if (stats->empty()) return convnet->run();
    for (const FlagView& flag : command.flags())
      if (flag.name != "--stats" && flag.name != "--threads" && command.given(flag.name))
        fail<UsageError>("--stats: the settings and the data are those of the run; leave out ", flag.name);
    set_threads(convnet->threads);
    convnet->for_each_run("--stats", *stats, [&](const RunFolder& folder) { convnet->study(folder); });
    return 0;
  });
}

}  // namespace lamina
