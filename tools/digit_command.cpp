#include "tools/digit_command.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>

#include "core/file.h"
#include "core/gemm.h"
#include "core/parallel.h"
#include "models/common/interrupt.h"
#include "models/common/metrics.h"
#include "tools/plot.h"

namespace lamina {

std::vector<DigitVariant> digit_variants(const CommonFlags& flags) {
  std::vector<DigitVariant> variants;
  for (const std::int64_t batch : flags.batches)
    for (const std::string& norm : flags.norms) variants.push_back({norm, batch});
  return variants;
}

DigitOptions options_of(const DigitVariant& variant, const CommonFlags& flags) {
  return {.norm = norm_from(variant.norm),
          .batch = static_cast<size_t>(variant.batch),
          .learning_rate = static_cast<real>(flags.learning_rate),
          .seed = static_cast<std::uint64_t>(flags.seed)};
}

MnistData load_digits(const CommonFlags& flags) {
  const auto seed = static_cast<std::uint64_t>(flags.seed);
  if (!flags.data.empty()) return load_mnist(flags.data);
  return smoke_epochs() > 0 ? synthetic_mnist(seed, 2560, 500, 500) : synthetic_mnist(seed);
}

namespace {

using Variant = DigitVariant;

/// What the user left open is the preset's.
void fill_in_preset(const DigitCommand& command, CommonFlags& flags) {
  if (flags.epochs == 0) flags.epochs = flags.preset == "paper" ? command.paper_epochs : command.small_epochs;
  if (smoke_epochs() > 0) flags.epochs = std::min(flags.epochs, smoke_epochs());
  if (flags.batches.empty()) flags.batches = {128};
  if (flags.learning_rate == 0) flags.learning_rate = 1e-3;
}

RunConfig config_of(const DigitCommand& command, const CommonFlags& flags, const std::string& variant) {
  return {.experiment = command.name,
          .variant = variant,
          .settings = to_settings(flags),
          .backend = gemm_backend()};
}

/// The folder of one variant: the given one itself when it is the only one, otherwise a folder in it.
RunFolder folder_of(const DigitCommand& command, const RunFolder& whole, const Variant& variant,
                    const CommonFlags& flags) {
  if (digit_variants(flags).size() == 1) return whole;
  const std::string path = whole.file(variant.name());
  if (std::filesystem::exists(path + "/config.json")) return RunFolder::resume(path);
  CommonFlags own = flags;
  own.norms = {variant.norm};
  own.batches = {variant.batch};
  return RunFolder::create(path, config_of(command, own, variant.name()));
}

Outcome train_variant(const DigitCommand& command, const RunFolder& folder, const Variant& variant,
                      const CommonFlags& flags, const MnistData& data) {
  const auto experiment = command.make(data, options_of(variant, flags));
  return train(folder, experiment->parameters, experiment->optimizer(), *experiment,
               {.label = text(title_of(variant.norm), ", batch ", variant.batch),
                .steps_per_epoch = experiment->steps_per_epoch(),
                .epochs = static_cast<std::uint64_t>(flags.epochs)});
}

/// A markdown table, one row a variant; the last column is chosen on the validation set, as one would.
std::string summary(const std::vector<Variant>& variants, const std::vector<Table>& tables) {
  std::string out =
      "| variant | batch | epochs | train NLL | valid error | test error | test error at best valid (epoch) "
      "| seconds |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (size_t i = 0; i < variants.size(); ++i) {
    const auto column = [&](const char* name) { return tables[i].column(name); };
    const auto last = [&](const char* name) { return column(name).back(); };
    const auto valid = column("valid_error");
    const auto best = static_cast<size_t>(std::ranges::min_element(valid) - valid.begin());
    char row[256];
    std::snprintf(row, sizeof row, "| %s | %lld | %.0f | %.2e | %.2f%% | %.2f%% | %.2f%% (%.0f) | %.0f |\n",
                  title_of(variants[i].norm).c_str(), static_cast<long long>(variants[i].batch),
                  last("epoch"), last("train_nll"), 100 * last("valid_error"), 100 * last("test_error"),
                  100 * column("test_error")[best], column("epoch")[best], last("seconds"));
    out += row;
  }
  return out;
}

/// Figure 6: train NLL on a log axis and test error against epochs, a pair of panels for each batch size.
std::vector<Panel> figure(const std::vector<Variant>& variants, const std::vector<Table>& tables) {
  std::vector<Panel> panels;
  for (size_t i = 0; i < variants.size(); ++i) {
    if (i == 0 || variants[i].batch != variants[i - 1].batch) {
      const std::string batch = text("batch size ", variants[i].batch);
      panels.push_back({.title = batch, .x_label = "epoch", .y_label = "train NLL [nats]", .log_y = true});
      panels.push_back({.title = batch, .x_label = "epoch", .y_label = "test error"});
    }
    const auto epochs = tables[i].column("epoch");
    Curve curve{.title = title_of(variants[i].norm), .x = epochs, .color = color_of(variants[i].norm)};
    curve.y = tables[i].column("train_nll");
    panels[panels.size() - 2].curves.push_back(curve);
    curve.y = tables[i].column("test_error");
    panels[panels.size() - 1].curves.push_back(curve);
  }
  return panels;
}

/// The folder of the run to go on with, whose settings replace the flags.
RunFolder resume_folder(CommonFlags& flags) {
  RunFolder folder = RunFolder::resume(flags.out);
  from_settings(folder.config().settings, flags);
  if (flags.threads == 0) flags.threads = folder.config().threads;
  return folder;
}

RunFolder create_folder(const DigitCommand& command, const CommonFlags& flags) {
  const auto variants = digit_variants(flags);
  return RunFolder::create(flags.out,
                           config_of(command, flags, variants.size() == 1 ? variants[0].name() : "all"));
}

void require_batches(const CommonFlags& flags, size_t cases) {
  for (const std::int64_t batch : flags.batches)
    if (static_cast<size_t>(batch) > cases)
      fail<UsageError>("--batch ", batch, ": there are only ", cases,
                       " training cases; choose a smaller one");
}

}  // namespace

int run_digit_command(const DigitCommand& command, CommonFlags flags) {
  std::optional<RunFolder> opened;
  if (flags.resume)
    opened = resume_folder(flags);
  else
    fill_in_preset(command, flags);
  set_threads(flags.threads);
  const MnistData data = load_digits(flags);
  require_batches(flags, data.train.count());
  const RunFolder whole = opened ? *opened : create_folder(command, flags);
  std::cout << data.source << '\n' << "run folder: " << whole.path() << std::endl;

  const auto variants = digit_variants(flags);
  std::vector<Table> tables;
  for (const Variant& variant : variants) {
    const RunFolder folder = folder_of(command, whole, variant, flags);
    if (train_variant(command, folder, variant, flags, data) == Outcome::interrupted) {
      std::cout << "saved; go on with: lamina " << command.name << " --resume --out " << whole.path() << '\n';
      return interrupted_exit_code;
    }
    tables.push_back(read_table(folder.file("metrics.csv")));
  }
  const std::string table = summary(variants, tables);
  write_file(whole.file("summary.md"), table);
  std::cout << '\n' << table;
  if (write_figure(whole.file("figure"), figure(variants, tables)))
    std::cout << "\nfigure: " << whole.file("figure.svg") << ", " << whole.file("figure.png") << '\n';
  return 0;
}

}  // namespace lamina
