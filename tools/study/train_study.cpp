#include "tools/study/train_study.h"

#include <algorithm>
#include <iostream>
#include <thread>

#include "core/files/file.h"
#include "core/files/folder.h"
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

}  // namespace

int train_study(const Study& study, const StudyPlan& plan) {
  make_folder(plan.folder);
  const RunLock lock(plan.folder);
  remove_unfinished_files(plan.folder);
  keep(study, plan.folder);
  StudyQueue queue(study, {.folder = plan.folder, .jobs = plan.jobs > 0 ? plan.jobs : jobs_for(study)});
  if (!queue.train()) {
    std::cout << "saved; go on with: lamina " << plan.words << '\n';
    return interrupted_exit_code;
  }
  std::cout << '\n';
  report_study(study, plan.folder, plan.single);
  return queue.failed() > 0 ? 1 : 0;
}

}  // namespace lamina
