#pragma once
// The paper's numbers and ours in pairs, with what lies between them.

#include <string>
#include <vector>

#include "tools/report/document.h"
#include "tools/report/exhibits.h"
#include "tools/report/traces.h"

namespace lamina {

/// What keeps a run from being compared with one of the paper's of this length: "synthetic data", "small preset", "trained on
/// 1000 alone", "batch 64 and not 128", "5 of 100 epochs"; empty when nothing does.
std::string why_not_comparable(const FoundRun& run, const Exhibit& exhibit, double length);

/// One table, or none: for each row of the paper whose norm we have measured, its numbers beside ours and the difference,
/// which is only formed where ours are comparable. Rows name their pair in `group`.
Json pairs_of(const Exhibit& exhibit, const std::vector<Trace>& traces, const std::vector<FoundRun>& runs);

}  // namespace lamina
