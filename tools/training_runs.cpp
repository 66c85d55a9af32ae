#include "tools/training_runs.h"

#include <algorithm>
#include <iostream>
#include <variant>

#include "core/file.h"
#include "core/folder.h"
#include "core/gemm.h"
#include "models/common/interrupt.h"
#include "models/common/metrics.h"

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

/// As a flag has it.
std::string text_of(const std::string& name, const SettingValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<double>(&value)) return number_text(*number);
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  return text(name == "record" ? "every=" : "", std::get<std::int64_t>(value));
}

/// The settings that a run began with are those it goes on with.
void require_same(const RunFolder& run, const CommonFlags& flags, const Settings& asked) {
  for (const auto& [name, began] : run.config().settings.entries()) {
    std::string flag = "--" + name;
    std::ranges::replace(flag, '_', '-');
    if (name == "smoke") flag = "LAMINA_SMOKE";
    if (name == "smoke" ? smoke_epochs() == 0 : !flags.given(flag)) continue;
    for (const auto& [key, value] : asked.entries())
      if (key == name && text_of(name, value) != text_of(name, began))
        fail<UsageError>(flag, ' ', text_of(name, value), ": the run in ", run.path(), " began with ",
                         text_of(name, began), "; leave it out, or start a new run in another folder");
  }
}

void report_change(const RunFolder& run, const std::string& began, const std::string& now) {
  std::cerr << run.path() << ": began with " << began << " and goes on with " << now
            << "; its numbers do not repeat bit by bit\n";
}

}  // namespace

void require_fitting(const CommonFlags& flags, size_t cases, const std::string& called) {
  for (const std::int64_t batch : flags.batches) {
    if (static_cast<size_t>(batch) > cases)
      fail<UsageError>("--batch ", batch, ": there are only ", cases, ' ', called, "; choose a smaller one");
    updates_in(static_cast<std::uint64_t>(flags.epochs), cases / static_cast<size_t>(batch));
  }
}

std::optional<RunFolder> folder_to_resume(const std::string& command, CommonFlags& flags,
                                          const Settings& asked) {
  if (!flags.resume) return {};
  RunFolder folder = RunFolder::resume(flags.out, command);
  const RunConfig& began = folder.config();
  require_same(folder, flags, asked);
  if (flags.threads == 0) flags.threads = began.threads;
  if (flags.threads != began.threads)
    report_change(folder, text(began.threads, " threads"), text(flags.threads));
  if (began.backend != gemm_backend()) report_change(folder, began.backend, gemm_backend());
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
