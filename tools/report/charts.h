#pragma once
// The charts of an exhibit: the curves of its traces, and what the paper's figure has of the same.

#include <vector>

#include "tools/report/document.h"
#include "tools/report/exhibits.h"
#include "tools/report/paper/curves.h"
#include "tools/report/traces.h"

namespace lamina {

/// A chart for every facet and plan that has a curve.
Json charts_of(const Exhibit& exhibit, const std::vector<Trace>& traces,
               const std::vector<PaperPanel>& panels);

}  // namespace lamina
