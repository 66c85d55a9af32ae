#pragma once
// The runs that an exhibit shows: where each is, what it was trained on, how to repeat it, and what is wrong with it.

#include <vector>

#include "tools/report/document.h"
#include "tools/report/exhibits.h"
#include "tools/report/runs.h"

namespace lamina {

/// "2 of 5 epochs so far" of a run that was to become longer than its rows of a file, by updates where it was asked for these;
/// or else empty. A smoke run trains fewer updates than it was asked for.
std::string unfinished(const FoundRun& run, const Csv& csv);

Json runs_of(const Exhibit& exhibit, const std::vector<FoundRun>& runs);

}  // namespace lamina
