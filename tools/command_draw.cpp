// lamina draw: Section 6.4 and Figure 4. Trains DRAW on binary images with each chosen normalization; `lamina
// draw sample RUN` shows what a trained model paints.

#include <cstdio>

#include "models/draw/experiment.h"
#include "tools/commands.h"
#include "tools/variant_command.h"

namespace lamina {

namespace {

/// The small preset is for a first look: a third of the glimpses, and units that train in minutes.
draw::Sizes sizes_for(const CommonFlags& flags) {
  if (flags.preset == "paper") return {};
  return {.glimpses = 16, .hidden = 64, .latent = 16};
}

draw::ExperimentOptions options_of(const Variant& variant, const CommonFlags& flags) {
  return {.norm = norm_from(variant.norm),
          .sizes = sizes_for(flags),
          .batch = static_cast<size_t>(variant.batch),
          .learning_rate = static_cast<real>(flags.learning_rate),
          .seed = static_cast<std::uint64_t>(flags.seed)};
}

draw::DrawData load(const CommonFlags& flags) {
  const auto seed = static_cast<std::uint64_t>(flags.seed);
  if (!flags.data.empty()) return draw::load_binary_mnist(flags.data);
  return smoke_epochs() > 0 ? draw::synthetic_binary_digits(seed, 512, 100, 100)
                            : draw::synthetic_binary_digits(seed);
}

Prepared prepare(const CommonFlags& flags) {
  const auto data = std::make_shared<const draw::DrawData>(load(flags));
  return {.source = data->source,
          .training_cases = data->train.count(),
          .train = [=](const RunFolder& folder, const Variant& variant, const std::string& label) {
            draw::DrawExperiment experiment(*data, options_of(variant, flags));
            return train(folder, experiment.parameters, experiment.adam, experiment,
                         {.label = label,
                          .steps_per_epoch = experiment.steps_per_epoch(),
                          .epochs = static_cast<std::uint64_t>(flags.epochs)});
          }};
}

std::string summary(const std::vector<Variant>& variants, const std::vector<Table>& tables) {
  std::string out =
      "| variant | epochs | train bound | valid bound | test bound | test reconstruction | test KL | seconds "
      "|\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (size_t i = 0; i < variants.size(); ++i) {
    const auto last = [&](const char* name) { return tables[i].column(name).back(); };
    char row[256];
    std::snprintf(row, sizeof row, "| %s | %.0f | %.2f | %.2f | %.2f | %.2f | %.2f | %.0f |\n",
                  variants[i].title().c_str(), last("epoch"), last("train_bound"), last("valid_bound"),
                  last("test_bound"), last("test_reconstruction"), last("test_kl"), last("seconds"));
    out += row;
  }
  return out;
}

/// Figure 4: the test variational bound against epochs; beside it that of the training set.
std::vector<Panel> figure(const std::vector<Variant>& variants, const std::vector<Table>& tables) {
  std::vector<Panel> panels;
  for (const std::string set : {"test", "train"}) {
    Panel panel{.title = set + " images", .x_label = "epoch", .y_label = "variational bound [nats]"};
    for (size_t i = 0; i < variants.size(); ++i)
      panel.curves.push_back({.title = variants[i].title(),
                              .x = tables[i].column("epoch"),
                              .y = tables[i].column(set + "_bound")});
    panels.push_back(panel);
  }
  return panels;
}

}  // namespace

void add_draw_command(CLI::App& program, Action& action) {
  CLI::App* const command =
      program.add_subcommand("draw", "DRAW, a model that paints binary digits (Section 6.4, Figure 4)");
  command->footer("Example: lamina draw --data mnist --norm none,weight,layer --epochs 5 --out runs/draw");
  const auto flags = std::make_shared<CommonFlags>();
  add_common_flags(*command, *flags, {"layer", "none", "weight"});
  command->callback([flags, &action] {
    action = [flags] {
      return run_variants({.name = "draw",
                           .paper_epochs = 100,
                           .small_epochs = 5,
                           .prepare = prepare,
                           .summary = summary,
                           .figure = figure},
                          *flags);
    };
  });
}

}  // namespace lamina
