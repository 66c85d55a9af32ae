#include "tools/study/same_data.h"

#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "models/evidence/measured_run.h"

namespace lamina {

namespace {

/// The settings that say which files a run reads.
std::string source_of(const Study& study, size_t combination) {
  std::string all;
  for (const char* const name : {"data", "book"})
    for (const Settings* const part : {&study.settings, &study.combinations[combination].settings})
      all += part->word(name) + '\n';
  return all;
}

}  // namespace

void require_same_data(const Study& study, const std::string& folder) {
  std::map<std::string, const MeasuredRun*> first;  // of each source the first run that says what it read
  const std::vector<MeasuredRun> runs = measured_runs(study, folder);
  for (const MeasuredRun& run : runs) {
    if (run.files.empty()) continue;
    const MeasuredRun& before = *first.try_emplace(source_of(study, run.run.combination), &run).first->second;
    if (before.files != run.files)
      fail<DataError>(study.file, ": the runs in ", folder, '/', before.run.name, " and ", folder, '/',
                      run.run.name,
                      " began with other files in their --data folder; put back the files of one of them, "
                      "and remove the other run");
  }
}

}  // namespace lamina
