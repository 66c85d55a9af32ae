#pragma once
// When a study's runs come to certain values of a metric, as in "passes 100 nats in epoch 12".

#include <string>
#include <vector>

#include "models/evidence/measured_run.h"
#include "models/evidence/study/study.h"

namespace lamina {

/// Markdown: for each metric of the study's `levels` a row for each variant, a column for each level: the first epoch, or
/// update where metrics.csv counts no epochs, after which a run was measured at the level or beyond. Median of the runs that
/// have ended, of which one that never came there counts as the last; range of those that did, and how many where not all.
std::string section_levels(const Study& study, const std::vector<MeasuredRun>& runs);

}  // namespace lamina
