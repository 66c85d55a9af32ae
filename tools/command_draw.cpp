// lamina draw: Section 6.4 and Figure 4. Trains DRAW on binary images with each chosen normalization; `lamina
// draw sample RUN` shows what a trained model paints.

#include <cstdio>
#include <filesystem>
#include <iostream>

#include "models/draw/experiment.h"
#include "models/draw/sample.h"
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
  return flags.smoke > 0 ? draw::synthetic_binary_digits(seed, 512, 100, 100)
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
                  title_of(variants[i].norm).c_str(), last("epoch"), last("train_bound"), last("valid_bound"),
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
      panel.curves.push_back({.title = title_of(variants[i].norm),
                              .x = tables[i].column("epoch"),
                              .y = tables[i].column(set + "_bound"),
                              .color = color_of(variants[i].norm)});
    panels.push_back(panel);
  }
  return panels;
}

struct SampleFlags {
  std::string run;
  std::int64_t seed = 1;
};

/// The pictures of one trained model, in the folder of its run.
void sample(const RunFolder& folder, std::int64_t seed) {
  constexpr size_t columns = 10, animated = 16, strip_rows = 6, strip_columns = 16;
  CommonFlags flags;
  from_settings(folder.config().settings, flags);
  Parameters parameters(0);
  const draw::Model model(parameters, {.norm = norm_from(flags.norms.front()), .sizes = sizes_for(flags)});
  load_model(folder, parameters);
  const auto start = static_cast<std::uint64_t>(seed);
  const draw::Painting many = draw::paint(model, columns * columns, start);
  write_png(folder.file("samples.png"), draw::grid_of(many, columns));
  write_png(folder.file("glimpses.png"), draw::strip_of(many, strip_rows, strip_columns));
  constexpr int milliseconds = 80, rest = 2000;
  write_animation(folder.file("animation.png"), draw::frames_of(draw::paint(model, animated, start), 4),
                  milliseconds, rest);
  std::cout << folder.config().variant << ": " << folder.file("samples.png") << ", "
            << folder.file("glimpses.png") << ", " << folder.file("animation.png") << '\n';
}

/// The pictures of one run, or of every variant in the folder of several.
int run_sample(const SampleFlags& flags) {
  const RunFolder whole = RunFolder::open(flags.run);
  if (whole.config().experiment != "draw")
    fail<UsageError>("sample ", flags.run, ": a run of lamina ", whole.config().experiment,
                     "; give the folder of a run of lamina draw");
  CommonFlags trained;
  from_settings(whole.config().settings, trained);
  const auto variants = variants_of(trained);
  for (const Variant& variant : variants)
    sample(variants.size() == 1 ? whole : RunFolder::open(whole.file(variant.name())), flags.seed);
  return 0;
}

void add_sample_command(Command& draw_command) {
  Command& command = draw_command.add_command(
      "sample", "pictures of what a trained model paints: samples, glimpse by glimpse, and an animation");
  command.footer("Example: lamina draw sample runs/draw");
  const auto flags = std::make_shared<SampleFlags>();
  command.add("RUN", flags->run, "folder of the run; the pictures are put into it").required();
  command.add("--seed", flags->seed, "of the samples").non_negative().show_default();
  command.action([flags] { return run_sample(*flags); });
}

}  // namespace

void add_draw_command(Command& program) {
  Command& command =
      program.add_command("draw", "DRAW, a model that paints binary digits (Section 6.4, Figure 4)");
  command.footer(
      "Example: lamina draw --data mnist --norm none,weight,layer --epochs 5 --out runs/draw\n"
      "         lamina draw sample runs/draw");
  const auto flags = std::make_shared<CommonFlags>();
  add_common_flags(command, *flags, {"layer", "none", "weight"});
  add_sample_command(command);
  command.action([flags] {
    return run_variants({.name = "draw",
                         .paper_epochs = 100,
                         .small_epochs = 5,
                         .prepare = prepare,
                         .summary = summary,
                         .figure = figure},
                        *flags);
  });
}

}  // namespace lamina
