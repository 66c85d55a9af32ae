#include "tools/variant_command.h"

#include <algorithm>
#include <optional>

#include "core/parallel.h"

namespace lamina {

std::vector<Variant> variants_of(const CommonFlags& flags) {
  std::vector<Variant> variants;
  for (const std::int64_t batch : flags.batches)
    for (const std::string& norm : flags.norms) variants.push_back({norm, batch});
  return variants;
}

namespace {

/// What the user left open is the preset's.
void fill_in_preset(const VariantCommand& command, CommonFlags& flags) {
  if (flags.epochs == 0) flags.epochs = flags.preset == "paper" ? command.paper_epochs : command.small_epochs;
  if (flags.smoke > 0) flags.epochs = std::min(flags.epochs, flags.smoke);
  if (flags.batches.empty()) flags.batches = {command.batch};
  if (flags.learning_rate == 0) flags.learning_rate = command.learning_rate;
}

}  // namespace

int run_variants(const VariantCommand& command, CommonFlags flags) {
  const std::optional<RunFolder> resumed = folder_to_resume(command.name, flags, to_settings(flags));
  if (resumed)
    from_settings(resumed->config().settings, flags);
  else
    fill_in_preset(command, flags);
  set_threads(flags.threads);
  const Prepared prepared = command.prepare(flags);
  require_fitting(flags, prepared.training_cases, "training cases");

  const std::vector<Variant> variants = variants_of(flags);
  std::vector<Table> tables;
  return train_all({.command = command.name,
                    .source = prepared.source,
                    .names = names_of(variants),
                    .settings = to_settings(flags),
                    .settings_alone =
                        [&](size_t i) {
                          CommonFlags own = flags;
                          own.norms = {variants[i].norm};
                          own.batches = {variants[i].batch};
                          return to_settings(own);
                        },
                    .train =
                        [&](const RunFolder& folder, size_t i) {
                          const std::string label =
                              text(title_of(variants[i].norm), ", batch ", variants[i].batch);
                          const Outcome outcome = prepared.train(folder, variants[i], label);
                          if (outcome == Outcome::finished)
                            tables.push_back(read_table(folder.file("metrics.csv")));
                          return outcome;
                        },
                    .summary = [&] { return command.summary(variants, tables); },
                    .figure = [&] { return command.figure(variants, tables); }},
                   resumed, flags.out);
}

}  // namespace lamina
