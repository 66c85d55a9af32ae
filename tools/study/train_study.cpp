#include "tools/study/train_study.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/folder.h"
#include "core/threads/parallel.h"
#include "models/evidence/choice.h"
#include "models/evidence/kept_numbers.h"
#include "models/run/length.h"
#include "models/run/metrics.h"
#include "models/run/run_folder.h"
#include "models/run/run_lock.h"
#include "models/terminal/interrupt.h"
#include "tools/flags/training/common_flags.h"
#include "tools/flags/training/training_command.h"
#include "tools/study/queue.h"
#include "tools/study/same_data.h"
#include "tools/study/tables/study_report.h"

namespace lamina {

namespace {

/// Whether a flag's value as the study writes it, "1e-3" or "every=5", is that of config.json.
bool is_same(const std::string& asked, const std::string& began) {
  const auto number = number_from(asked);
  return asked == began || asked == "every=" + began || (number && number == number_from(began));
}

/// A run goes on with the settings that it began with, which must be those that the study names for it, but for its length.
void require_settings(const Study& study, const StudyRun& run, const RunFolder& found, size_t smoke) {
  const Settings longer = longer_than(found.config().settings, study.settings_of(run));
  Settings asked = study.settings_of(run);
  asked.set("seed", run.seed);
  for (const auto& [flag, value] : asked.entries()) {
    const std::string name = name_of_setting(flag);
    const auto& all = found.config().settings.entries();
    const auto began = std::ranges::find(all, name, [](const auto& entry) { return entry.first; });
    if (began == all.end() || longer.has(name)) continue;
    if (smoke > 0 && name == "epochs") continue;  // LAMINA_SMOKE cuts the epochs
    if (!is_same(text_of(value), text_of(began->second)))
      fail<DataError>(study.file, ": ", flag, ' ', text_of(value), ": the run in ", found.path(),
                      " began with ", text_of(began->second), "; name another folder with --out");
  }
}

/// Nor does it go on in another scalar type, in which other runs would not be comparable with it.
void require_scalar(const Study& study, const RunFolder& found) {
  const std::string& scalar = found.config().scalar;
  if (scalar != scalar_name)
    fail<DataError>(study.file, ": the run in ", found.path(), " is in ", scalar, ", and this program is in ",
                    scalar_name, "; go on with the program built by make REAL=", scalar,
                    ", or name another folder with --out");
}

/// Runs of one variant differ in their seed alone, also in what the study leaves open; require_settings() sees to what it
/// names.
void require_like(const Study& study, const Settings& named, const RunFolder& first, const RunFolder& other) {
  const Settings& theirs = other.config().settings;
  for (const auto& [name, value] : first.config().settings.entries())
    if (name != "seed" && theirs.has(name) && theirs.word(name) != text_of(value) &&
        !named.has(flag_of_setting(name).substr(2)))
      fail<DataError>(study.file, ": ", flag_of_setting(name).substr(2), ' ', theirs.word(name),
                      ": the run in ", other.path(), " began with it, and that in ", first.path(), " with ",
                      text_of(value), "; remove one of them, or name another folder with --out");
}

/// Runs that are there already must be this study's. study.json says so, also of the settings that it leaves open and of
/// runs whose numbers alone are left.
void require_own_runs(const Study& study, const std::string& folder, size_t smoke) {
  std::map<size_t, RunFolder> first;  // of each variant
  for (const MeasuredRun& each : measured_runs(study, folder)) {
    const std::string path = folder + '/' + each.run.name;
    const bool is_run = exists(path + "/config.json");
    if (each.end.damaged || (!is_run && !each.ended())) continue;
    if (is_run) {
      const RunFolder found = open_run(study.experiment, "--out", path);
      require_scalar(study, found);
      require_settings(study, each.run, found, smoke);
      require_like(study, study.settings_of(each.run),
                   first.try_emplace(each.run.combination, found).first->second, found);
      if (const std::string data = found.config().settings.word("data"); !data.empty())
        require_data_folder(found, data);
    }
    if (!exists(folder + "/study.json"))
      fail<DataError>(
          study.file, ": ",
          is_run ? path + " holds a run" : text(folder, '/', numbers_file, " has ", each.run.name),
          ", but no ", folder,
          "/study.json says what it began with; restore that file, or name another folder with --out");
  }
}

/// Only a run whose folder is there can go on for longer, not one whose numbers alone are left.
Lengths lengths_in(const std::string& folder) {
  const KeptNumbers kept = kept_numbers(folder);
  const auto can_go_on = [&](const auto& each) { return exists(folder + '/' + each.first); };
  return std::ranges::all_of(kept, can_go_on) ? Lengths::may_grow : Lengths::as_kept;
}

/// What the runs in the folder were trained with must be what the study says. Where they become longer, what was measured of
/// shorter ones is no longer kept: their folders have it.
void keep(const Study& study, const std::string& folder) {
  const std::string file = folder + "/study.json";
  const size_t smoke = smoke_epochs();
  const std::string before = exists(file) ? read_file(file) : kept_of(study, smoke);
  const std::string now = merged_with_kept(study, smoke, file, before, lengths_in(folder));
  require_own_runs(study, folder, smoke);
  require_same_data(study, folder);
  if (became_longer(before, now)) std::filesystem::remove(folder + '/' + numbers_file);
  write_file(file, now);
}

/// One run a core.
size_t jobs_for(const Study& study) {
  return std::max<size_t>(1, static_cast<size_t>(usable_cores()) / static_cast<size_t>(study.threads));
}

/// What is to be trained, as far as what is in the folder tells.
std::vector<StudyRun> runs_in(const Study& study, const std::string& folder) {
  const std::vector<MeasuredRun> runs = measured_runs(study, folder);
  require_metrics(study, runs);  // before a metric that there is not chooses
  return runs_to_train(study, runs);
}

/// "chosen by valid_error: none-lr0.001, layer-lr0.003; they alone train with the other seeds"
std::string chosen_line(const Study& study, const std::string& folder) {
  std::string names;
  for (const size_t combination : compared_by_claims(study, measured_runs(study, folder)))
    names += (names.empty() ? "" : ", ") + study.combinations[combination].name;
  return "chosen by " + study.choose + ": " + names + "; they alone train with the other seeds";
}

}  // namespace

void require_no_run(const std::string& folder) {
  if (exists(folder + "/config.json"))
    fail<UsageError>("--out ", folder,
                     ": holds a run, whose tables the study's would replace; name another folder");
}

int train_study(const Study& study, const StudyPlan& plan) {
  require_no_run(plan.folder);
  make_folder(plan.folder);
  const RunLock lock(plan.folder);
  remove_unfinished_files(plan.folder);
  keep(study, plan.folder);
  const size_t jobs = plan.jobs > 0 ? plan.jobs : jobs_for(study);
  size_t failed = 0;
  std::vector<StudyRun> before, runs = runs_in(study, plan.folder);
  while (runs.size() > before.size()) {
    if (!before.empty()) std::cout << chosen_line(study, plan.folder) << '\n';
    StudyQueue queue(study, runs, {.folder = plan.folder, .jobs = jobs});
    if (!queue.train()) {
      std::cout << "saved; go on with: lamina " << plan.words << '\n';
      return interrupted_exit_code;
    }
    failed = queue.failed();
    before = std::exchange(runs, runs_in(study, plan.folder));
  }
  require_same_data(study, plan.folder);
  std::cout << '\n';
  report_study(study, plan.folder, plan.single);
  return failed > 0 ? 1 : 0;
}

}  // namespace lamina
