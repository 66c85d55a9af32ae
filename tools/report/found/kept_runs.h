#pragma once
// The runs of a study whose folders are gone, as in a repository: numbers.json has kept what they measured.

#include <string>
#include <vector>

#include "tools/report/runs.h"

namespace lamina {

/// The runs that study.json and numbers.json in `folder` name and that have no folder of their own there. None where a file is missing;
/// DataError for a damaged one.
std::vector<FoundRun> kept_runs(const std::string& folder);

}  // namespace lamina
