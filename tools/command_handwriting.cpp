// lamina handwriting: Section 6.5 and Figure 5. Trains the synthesis network on lines of handwriting with
// each chosen normalization; its parts `write` and `pen` are in handwriting_write.cpp.

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "models/handwriting/experiment.h"
#include "models/handwriting/iam.h"
#include "tools/commands.h"
#include "tools/handwriting_write.h"
#include "tools/variant_command.h"

namespace lamina {

namespace {

using namespace handwriting;

ExperimentOptions options_of(const Variant& variant, const CommonFlags& flags) {
  return {.model = handwriting_model(flags, variant.norm),
          .batch = static_cast<size_t>(variant.batch),
          .length = static_cast<size_t>(flags.own.get<std::int64_t>("length")),
          .learning_rate = static_cast<real>(flags.learning_rate),
          .seed = static_cast<std::uint64_t>(flags.seed)};
}

Data load(const CommonFlags& flags) {
  if (!flags.data.empty()) return load_iam(flags.data);
  const auto seed = static_cast<std::uint64_t>(flags.seed);
  return flags.smoke > 0 ? synthetic_lines(seed, 64, 16) : synthetic_lines(seed);
}

Prepared prepare(const CommonFlags& flags) {
  const auto data = std::make_shared<const Data>(load(flags));
  return {.source = data->source,
          .training_cases = data->train.size(),
          .train = [=](const RunFolder& folder, const Variant& variant, const std::string& label) {
            HandwritingExperiment experiment(*data, options_of(variant, flags), folder);
            const auto chosen = static_cast<std::uint64_t>(flags.own.get<std::int64_t>("updates"));
            const std::uint64_t all =
                updates_in(static_cast<std::uint64_t>(flags.epochs), experiment.steps_per_epoch());
            std::cout << label << ": " << experiment.parameters.count() << " parameters" << std::endl;
            return train(folder, experiment.parameters, experiment.adam, experiment,
                         plan_in_periods(label, chosen > 0 ? chosen : all, updates_per_report, "report"));
          }};
}

std::string summary(const std::vector<Variant>& variants, const std::vector<Table>& tables) {
  std::string out =
      "| variant | updates | train NLL | test NLL | lowest test NLL | at update | seconds |\n"
      "|---|---|---|---|---|---|---|\n";
  for (size_t i = 0; i < variants.size(); ++i) {
    const auto last = [&](const char* name) { return tables[i].column(name).back(); };
    const std::vector<double> test = tables[i].column("test_nll"), updates = tables[i].column("step");
    const auto lowest = std::ranges::min_element(test);
    char row[256];
    std::snprintf(row, sizeof row, "| %s | %.0f | %.1f | %.1f | %.1f | %.0f | %.0f |\n",
                  title_of(variants[i].norm).c_str(), last("step"), last("train_nll"), last("test_nll"),
                  *lowest, updates[static_cast<size_t>(lowest - test.begin())], last("seconds"));
    out += row;
  }
  return out;
}

/// Figure 5: the negative log likelihood of a line against updates on a log axis.
std::vector<Panel> figure(const std::vector<Variant>& variants, const std::vector<Table>& tables) {
  std::vector<Panel> panels;
  for (const std::string set : {"train", "test"}) {
    Panel panel{.title = set + " lines", .x_label = "updates", .y_label = "nats per line", .log_x = true};
    for (size_t i = 0; i < variants.size(); ++i)
      panel.curves.push_back({.title = title_of(variants[i].norm),
                              .x = tables[i].column("step"),
                              .y = tables[i].column(set + "_nll"),
                              .color = color_of(variants[i].norm)});
    panels.push_back(panel);
  }
  return panels;
}

}  // namespace

void add_handwriting_command(Command& program) {
  Command& command = program.add_command(
      "handwriting", "handwriting synthesis, a network that writes a text (Section 6.5, Figure 5)");
  command.footer("Example: lamina handwriting --norm none,layer --updates 4000 --out runs/handwriting");
  const auto flags = std::make_shared<CommonFlags>();
  add_common_flags(command, *flags, {"layer", "none"});
  const auto length = std::make_shared<std::int64_t>(500), updates = std::make_shared<std::int64_t>(0);
  command.add("--length", *length, "points of a line that are used; the rest is cut off")
      .range(2, 1000000)
      .show_default();
  command.add("--updates", *updates, "updates in all, instead of --epochs").positive();
  add_handwriting_write(command);
  add_handwriting_pen(command);
  command.action([=] {
    flags->own.set("length", *length);
    flags->own.set("updates", *updates);
    return run_variants({.name = "handwriting",
                         .paper_epochs = 10,
                         .small_epochs = 2,
                         .batch = 8,
                         .prepare = prepare,
                         .summary = summary,
                         .figure = figure},
                        *flags);
  });
}

}  // namespace lamina
