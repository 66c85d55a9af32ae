#pragma once
// Table 3 and Figure 3 from runs of lamina skip-thoughts, and the file that keeps their scores.

#include <string>
#include <vector>

#include "models/skip_thoughts/evaluation/evaluation.h"
#include "tools/results/variant_report.h"

namespace lamina {

/// Adds a row to a file of scores, which has one for each encoder that was judged, in the order of their updates, the column
/// "step".
void append_scores(const std::string& path, double updates, const skip_thoughts::TaskScores& scores);

/// "SICK r 0.842, rho 0.767, MSE 0.298, MR 77.3, ..."
std::string line_of(const skip_thoughts::TaskScores& scores);

/// A run with its file of scores, in the order of their updates.
TrainedVariant read_scores(const std::string& norm, const std::string& path);

/// A row per run, all after as many updates: the most that every trained run was judged at. Above them a row per run
/// before any update: what a score owes to learning is what it has more.
std::string table_3(const TrainedVariants& runs);

/// Six scores against updates.
std::vector<Panel> figure_3(const TrainedVariants& runs);

}  // namespace lamina
