#pragma once
// The ends of a study's runs against a setting with numbers, such as the learning rate: a table and a figure.

#include <string>
#include <vector>

#include "models/evidence/measured_run.h"
#include "models/evidence/study/study.h"
#include "tools/results/plot.h"

namespace lamina {

/// Markdown: of each metric the median and range of the last values, a row for each variant apart from the setting, a
/// column for each value of the setting; then the best value, and the largest one at which no run failed: diverged, or
/// ended worse than the study's limit.
std::string section_against(const Study& study, const std::vector<MeasuredRun>& runs,
                            const std::vector<std::string>& metrics);

/// The same as curves: the median of all runs, of which one that diverged counts as the worst (Ends::median_of_all), and the
/// range of the others as a band. Infinite, which interrupts the line, where half of the runs diverged.
std::vector<Panel> figure_against(const Study& study, const std::vector<MeasuredRun>& runs,
                                  const std::vector<std::string>& metrics);

}  // namespace lamina
