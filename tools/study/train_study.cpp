#include "tools/study/train_study.h"

#include <algorithm>
#include <iostream>
#include <thread>
#include <utility>

#include "core/files/file.h"
#include "core/files/folder.h"
#include "models/evidence/choice.h"
#include "models/run/interrupt.h"
#include "models/run/run_lock.h"
#include "tools/flags/common_flags.h"
#include "tools/study/queue.h"
#include "tools/study/study_report.h"

namespace lamina {

namespace {

/// What the runs in the folder were trained with must be what the study says.
void keep(const Study& study, const std::string& folder) {
  const std::string file = folder + "/study.json";
  const size_t smoke = smoke_epochs();
  write_file(file,
             exists(file) ? merged_with_kept(study, smoke, file, read_file(file)) : kept_of(study, smoke));
}

/// One run a core.
size_t jobs_for(const Study& study) {
  return std::max<size_t>(1, std::thread::hardware_concurrency() / static_cast<unsigned>(study.threads));
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

int train_study(const Study& study, const StudyPlan& plan) {
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
  std::cout << '\n';
  report_study(study, plan.folder, plan.single);
  return failed > 0 ? 1 : 0;
}

}  // namespace lamina
