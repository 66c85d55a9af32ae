// lamina skip-thoughts: Section 6.3, Figure 3 and Table 3. Trains skip-thought vectors with each chosen
// normalization; what comes out of it is in skip_vectors.cpp.

#include <cstdio>

#include "core/folder.h"
#include "tools/commands.h"
#include "tools/optimizer_flag.h"
#include "tools/skip_thoughts.h"
#include "tools/variant_command.h"

namespace lamina {

namespace {

using namespace skip_thoughts;

/// What an earlier sitting of the run in --out knows about the books, if there was one.
std::string folder_of_saved_corpus(const CommonFlags& flags) {
  std::vector<std::string> folders{flags.out};
  for (const Variant& variant : variants_of(flags)) folders.push_back(flags.out + "/" + variant.name());
  for (const std::string& folder : folders)
    if (flags.resume && exists(folder + "/passages.tsv")) return folder;
  return {};
}

Prepared prepare(const SkipFlags& flags) {
  const auto corpus = std::make_shared<const Corpus>(corpus_of(flags, folder_of_saved_corpus(flags.common)));
  return {.source = corpus->source,
          .training_cases = corpus->sentences(),
          .train = [=](const RunFolder& folder, const Variant& variant, const std::string& label) {
            SkipExperiment experiment(*corpus, options_of(flags, variant.norm, variant.batch), folder);
            const std::uint64_t total =
                updates_in(static_cast<std::uint64_t>(flags.common.epochs), experiment.steps_per_epoch());
            return train(folder, experiment.parameters, *experiment.optimizer, experiment,
                         plan_in_periods(label, total, static_cast<std::uint64_t>(flags.evaluate_every),
                                         "evaluation"));
          }};
}

std::string summary(const std::vector<Variant>& variants, const std::vector<Table>& tables) {
  std::string out =
      "| variant | updates | epochs | train nats per word | held-out nats per word | seconds |\n"
      "|---|---|---|---|---|---|\n";
  for (size_t i = 0; i < variants.size(); ++i) {
    const auto last = [&](const char* name) { return tables[i].column(name).back(); };
    char row[256];
    std::snprintf(row, sizeof row, "| %s | %.0f | %.2f | %.3f | %.3f | %.0f |\n",
                  title_of(variants[i].norm).c_str(), last("step"), last("epoch"), last("train_nll"),
                  last("valid_nll"), last("seconds"));
    out += row;
  }
  return out;
}

/// What the neighbours of a sentence cost, on the text that is learned and on what is held out.
std::vector<Panel> figure(const std::vector<Variant>& variants, const std::vector<Table>& tables) {
  std::vector<Panel> panels;
  for (const auto& [column, title] :
       {std::pair("valid_nll", "text held out"), std::pair("train_nll", "text that is learned")}) {
    Panel panel{.title = title, .x_label = "updates", .y_label = "nats per word"};
    for (size_t i = 0; i < variants.size(); ++i)
      panel.curves.push_back({.title = title_of(variants[i].norm),
                              .x = tables[i].column("step"),
                              .y = tables[i].column(column),
                              .color = color_of(variants[i].norm)});
    panels.push_back(panel);
  }
  return panels;
}

int train_all(const std::shared_ptr<SkipFlags>& flags) {
  write_settings(*flags, flags->common.own);  // as they were given
  const Preset paper = preset_of("paper");
  const VariantCommand command{
      .name = "skip-thoughts",
      .paper_epochs = static_cast<std::int64_t>(paper.epochs),
      .small_epochs = static_cast<std::int64_t>(preset_of("small").epochs),
      .batch = static_cast<std::int64_t>(paper.options.batch),
      .learning_rate = paper.options.learning_rate,
      .prepare =
          [flags](CommonFlags& common) {
            flags->common = common;
            if (common.resume) read_settings(common.own, *flags);
            fill_in_preset(*flags);
            write_settings(*flags, common.own);
            return prepare(*flags);
          },
      .summary = summary,
      .figure = figure,
  };
  return run_variants(command, flags->common);
}

}  // namespace

void add_skip_thoughts_command(Command& program) {
  Command& command = program.add_command(
      "skip-thoughts", "sentence vectors from the sentences around (Section 6.3, Figure 3, Table 3)");
  command.footer(
      "Example: lamina skip-thoughts --data books --norm none,layer --out runs/skip-thoughts\n"
      "         lamina skip-thoughts eval runs/skip-thoughts --data tasks");
  const auto flags = std::make_shared<SkipFlags>();
  add_common_flags(command, flags->common, {"layer", "none"});
  command
      .add("--condition", flags->condition,
           "how the encoding reaches the decoders: as their first state, or as an input of every step")
      .one_of({"initial", "every-step"})
      .show_default();
  command
      .add("--evaluate-every", flags->evaluate_every,
           "updates between evaluations, each of which keeps the encoder; 50,000 in the paper")
      .positive();
  command.add("--lazy", flags->lazy,
              "update only the embeddings of words in the batch (lazy Adam); faster, and not Adam's result");
  add_optimizer_flag(command, flags->optimizer);
  add_skip_vector_commands(command);
  command.action([flags, &command] {
    if (!flags->common.resume) require_learning_rate(command, flags->optimizer);
    return train_all(flags);
  });
}

}  // namespace lamina
