#pragma once
// What a study leaves in its folder: runs.csv, summary.md, verdicts.json and a figure. All of it is made from the runs'
// own files, so it can be made again without training.

#include <string>
#include <vector>

#include "models/evidence/measured_run.h"
#include "models/evidence/study/study.h"
#include "models/evidence/verdict.h"
#include "tools/results/plot.h"

namespace lamina {

/// Markdown: the question, a table for each claim with its verdict, a table for each metric with a row for each variant.
std::string summary_of(const Study& study, const std::vector<MeasuredRun>& runs,
                       const std::vector<Verdict>& verdicts);

/// Markdown of one claim: its verdict, and the pairs of which `measured` says what their numbers are.
std::string claim_section(const Verdict& verdict, size_t number, const std::string& measured);

/// For programs: of each claim the answer, the number, the intervals, n, the data, and the sentence.
std::string verdicts_json(const std::vector<Verdict>& verdicts);

/// A panel for each metric that runs measure more than once, and for each value of the setting that the study gives
/// panels: the median of a variant's runs against updates, their range as a band; with `single` each run as well.
std::vector<Panel> study_figure(const Study& study, const std::vector<MeasuredRun>& runs, bool single);

/// What study_figure() shows where the study has nothing to show ends against: of the variants that the claims compare.
std::vector<Panel> compared_figure(const Study& study, const std::vector<MeasuredRun>& runs, bool single);

/// Writes all of these into the study's folder and prints the summary.
void report_study(const Study& study, const std::string& folder, bool single);

}  // namespace lamina
