#include "tools/training_runs.h"

#include <iostream>

#include "core/file.h"
#include "core/folder.h"
#include "core/gemm.h"
#include "models/common/interrupt.h"

namespace lamina {

namespace {

RunFolder create(const TrainingRuns& runs, const std::string& path, const std::string& variant,
                 Settings settings) {
  return RunFolder::create(path, {.experiment = runs.command,
                                  .variant = variant,
                                  .settings = std::move(settings),
                                  .backend = gemm_backend()});
}

/// The folder of one variant: the given one itself when it is the only one, otherwise a folder in it.
RunFolder folder_of(const TrainingRuns& runs, const RunFolder& whole, size_t variant) {
  if (runs.names.size() == 1) return whole;
  const std::string path = whole.file(runs.names[variant]);
  if (exists(path + "/config.json")) return RunFolder::resume(path, runs.command);
  return create(runs, path, runs.names[variant], runs.settings_alone(variant));
}

}  // namespace

void require_fitting(const CommonFlags& flags, size_t cases, const std::string& called) {
  for (const std::int64_t batch : flags.batches) {
    if (static_cast<size_t>(batch) > cases)
      fail<UsageError>("--batch ", batch, ": there are only ", cases, ' ', called, "; choose a smaller one");
    updates_in(static_cast<std::uint64_t>(flags.epochs), cases / static_cast<size_t>(batch));
  }
}

std::optional<RunFolder> folder_to_resume(const std::string& command, CommonFlags& flags) {
  if (!flags.resume) return {};
  RunFolder folder = RunFolder::resume(flags.out, command);
  if (flags.threads == 0) flags.threads = folder.config().threads;
  return folder;
}

int train_all(const TrainingRuns& runs, const std::optional<RunFolder>& resumed, const std::string& out) {
  const RunFolder whole =
      resumed ? *resumed : create(runs, out, runs.names.size() == 1 ? runs.names[0] : "all", runs.settings);
  std::cout << runs.source << '\n' << "run folder: " << whole.path() << std::endl;

  for (size_t variant = 0; variant < runs.names.size(); ++variant)
    if (runs.train(folder_of(runs, whole, variant), variant) == Outcome::interrupted) {
      std::cout << "saved; go on with: lamina " << runs.command << " --resume --out " << whole.path() << '\n';
      return interrupted_exit_code;
    }
  const std::string table = runs.summary();
  write_file(whole.file("summary.md"), table);
  std::cout << '\n' << table;
  if (write_figure(whole.file("figure"), runs.figure()))
    std::cout << "\nfigure: " << whole.file("figure.svg") << ", " << whole.file("figure.png") << '\n';
  return 0;
}

}  // namespace lamina
