#include "tools/variant_command.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>

#include "core/file.h"
#include "core/gemm.h"
#include "core/parallel.h"
#include "models/common/interrupt.h"

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
  if (smoke_epochs() > 0) flags.epochs = std::min(flags.epochs, smoke_epochs());
  if (flags.batches.empty()) flags.batches = {command.batch};
  if (flags.learning_rate == 0) flags.learning_rate = 1e-3;
}

RunConfig config_of(const VariantCommand& command, const CommonFlags& flags, const std::string& variant) {
  return {.experiment = command.name,
          .variant = variant,
          .settings = to_settings(flags),
          .backend = gemm_backend()};
}

/// The folder of one variant: the given one itself when it is the only one, otherwise a folder in it.
RunFolder folder_of(const VariantCommand& command, const RunFolder& whole, const Variant& variant,
                    const CommonFlags& flags) {
  if (variants_of(flags).size() == 1) return whole;
  const std::string path = whole.file(variant.name());
  if (std::filesystem::exists(path + "/config.json")) return RunFolder::resume(path);
  CommonFlags own = flags;
  own.norms = {variant.norm};
  own.batches = {variant.batch};
  return RunFolder::create(path, config_of(command, own, variant.name()));
}

/// The folder of the run to go on with, whose settings replace the flags.
RunFolder resume_folder(CommonFlags& flags) {
  RunFolder folder = RunFolder::resume(flags.out);
  from_settings(folder.config().settings, flags);
  if (flags.threads == 0) flags.threads = folder.config().threads;
  return folder;
}

RunFolder create_folder(const VariantCommand& command, const CommonFlags& flags) {
  const auto variants = variants_of(flags);
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

int run_variants(const VariantCommand& command, CommonFlags flags) {
  std::optional<RunFolder> opened;
  if (flags.resume)
    opened = resume_folder(flags);
  else
    fill_in_preset(command, flags);
  set_threads(flags.threads);
  const Prepared prepared = command.prepare(flags);
  require_batches(flags, prepared.training_cases);
  const RunFolder whole = opened ? *opened : create_folder(command, flags);
  std::cout << prepared.source << '\n' << "run folder: " << whole.path() << std::endl;

  const auto variants = variants_of(flags);
  std::vector<Table> tables;
  for (const Variant& variant : variants) {
    const RunFolder folder = folder_of(command, whole, variant, flags);
    const std::string label = text(title_of(variant.norm), ", batch ", variant.batch);
    if (prepared.train(folder, variant, label) == Outcome::interrupted) {
      std::cout << "saved; go on with: lamina " << command.name << " --resume --out " << whole.path() << '\n';
      return interrupted_exit_code;
    }
    tables.push_back(read_table(folder.file("metrics.csv")));
  }
  const std::string table = command.summary(variants, tables);
  write_file(whole.file("summary.md"), table);
  std::cout << '\n' << table;
  if (write_figure(whole.file("figure"), command.figure(variants, tables)))
    std::cout << "\nfigure: " << whole.file("figure.svg") << ", " << whole.file("figure.png") << '\n';
  return 0;
}

}  // namespace lamina
