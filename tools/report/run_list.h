#pragma once
// The runs that an exhibit shows: where each is, what it was trained on, how to repeat it, and what is wrong with it.

#include <vector>

#include "tools/report/document.h"
#include "tools/report/exhibits.h"
#include "tools/report/runs.h"

namespace lamina {

Json runs_of(const Exhibit& exhibit, const std::vector<FoundRun>& runs);

}  // namespace lamina
