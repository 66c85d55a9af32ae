#pragma once
// What a lab leaves in its folder: NAME.csv, curves.csv, summary.md, verdicts.json and a figure, all made from its rows.

#include <string>
#include <vector>

#include "models/evidence/verdict.h"
#include "models/lab/rows.h"
#include "tools/results/plot.h"
#include "tools/results/result_folder.h"

namespace lamina::lab {

/// Markdown: the sentence, the claims with their verdicts, a table for each quantity with a row for each variant.
std::string summary_of(const Lab& lab, const Rows& rows, const std::vector<Verdict>& verdicts);

/// A panel for each chart: the median of the seeds for each variant, and the range of those with a number as a band. A seed
/// without one, as it diverged, counts as above all others; where half of them have none, there is no point. A variant that
/// begins with the name of a norm has the norm's colour.
std::vector<Panel> figure_of(const Lab& lab, const Rows& rows);

/// A row for each variant and x: of every quantity the same median, the lowest and the highest value, for the report.
std::string curves_csv(const Rows& rows);

/// Writes all of these into a folder. Prints the summary, or nothing but the paths.
void report_lab(const Lab& lab, const Rows& rows, const ResultFolder& results);

/// A lab and what was found.
struct LabResult {
  const Lab* lab = nullptr;
  std::vector<Verdict> verdicts;
};

/// Markdown: a row for each claim of each lab with what holds and how surely.
std::string table_of(const std::vector<LabResult>& results);

}  // namespace lamina::lab
