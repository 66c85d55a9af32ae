#pragma once
// Table 3 and Figure 3 from runs of lamina skip-thoughts, and the file that keeps their scores.

#include <string>
#include <vector>

#include "models/common/metrics.h"
#include "models/common/run_folder.h"
#include "models/skip_thoughts/evaluation.h"
#include "tools/plot.h"

namespace lamina {

/// Adds a row to a file of scores, which has one for each encoder that was judged, its updates in the column "step".
void append_scores(const std::string& path, double updates, const skip_thoughts::TaskScores& scores);

/// "SICK r 0.842, rho 0.767, MSE 0.298, MR 77.3, ..."
std::string line_of(const skip_thoughts::TaskScores& scores);

struct JudgedRun {
  std::string variant, norm;
  Table scores;  ///< its file of scores
};

/// A row per run, all after as many updates: the most that every trained run was judged at. Above them a row per run
/// before any update: what a score owes to learning is what it has more.
std::string table_3(const std::vector<JudgedRun>& runs);

/// Six scores against updates.
std::vector<Panel> figure_3(const std::vector<JudgedRun>& runs);

}  // namespace lamina
