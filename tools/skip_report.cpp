#include "tools/skip_report.h"

#include <algorithm>
#include <array>
#include <limits>

#include "tools/norm_table.h"

namespace lamina {

namespace {

using skip_thoughts::TaskScores;

struct ScoreColumn {
  const char *column, *title, *format;
  double TaskScores::*value;
};
constexpr std::array<ScoreColumn, 7> columns{{{"sick_r", "SICK r", "%.3f", &TaskScores::sick_r},
                                              {"sick_rho", "rho", "%.3f", &TaskScores::sick_rho},
                                              {"sick_mse", "MSE", "%.3f", &TaskScores::sick_mse},
                                              {"mr", "MR", "%.1f", &TaskScores::mr},
                                              {"cr", "CR", "%.1f", &TaskScores::cr},
                                              {"subj", "SUBJ", "%.1f", &TaskScores::subj},
                                              {"mpqa", "MPQA", "%.1f", &TaskScores::mpqa}}};

const std::string bag_of_words = "bag-of-words";

/// The row of the most updates up to a limit; that of a bag of words is 0.
std::string row_of(const TrainedVariant& run, double limit, const std::string& title) {
  const std::vector<double> steps = run.curves.column("step");
  const auto end = std::ranges::upper_bound(steps, limit);
  if (end == steps.begin()) return {};
  const auto row = static_cast<size_t>(end - steps.begin()) - 1;
  std::vector<std::string> cells{title, formatted("%.0f", steps[row])};
  for (const ScoreColumn& score : columns)
    cells.push_back(formatted(score.format, run.curves.column(score.column)[row]));
  return markdown_row(cells);
}

/// The most updates for which every trained run has a row.
double updates_of_all(const TrainedVariants& runs) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [run, scores, test] : runs)
    if (!scores.rows.empty() && run.norm != bag_of_words)
      least = std::min(least, scores.column("step").back());
  return least;
}

}  // namespace

void append_scores(const std::string& path, double updates, const TaskScores& scores) {
  std::vector<std::string> names{"step"};
  std::vector<std::pair<std::string_view, double>> row{{"step", updates}};
  for (const ScoreColumn& score : columns) {
    names.emplace_back(score.column);
    row.emplace_back(score.column, scores.*score.value);
  }
  MetricsFile::resume(path, names, std::numeric_limits<double>::infinity()).append(row);
}

std::string line_of(const TaskScores& scores) {
  std::string line;
  for (const ScoreColumn& score : columns)
    line += (line.empty() ? "" : ", ") + std::string(score.title) + " " +
            formatted(score.format, scores.*score.value);
  return line;
}

TrainedVariant read_scores(const std::string& norm, const std::string& path) {
  TrainedVariant run{{.norm = norm, .name = norm, .title = title_of(norm)}, read_table(path)};
  const auto& names = run.curves.columns;
  const auto step = static_cast<size_t>(std::ranges::find(names, "step") - names.begin());
  std::ranges::stable_sort(run.curves.rows, {}, [=](const std::vector<double>& row) { return row[step]; });
  return run;
}

std::string table_3(const TrainedVariants& runs) {
  std::vector<std::string> titles{"", "updates"};
  std::string rule = "|---|---|", rows;
  for (const ScoreColumn& score : columns) {
    titles.emplace_back(score.title);
    rule += "---|";
  }
  const double updates = updates_of_all(runs);
  for (const TrainedVariant& run : runs)
    if (run.variant.norm != bag_of_words) rows += row_of(run, 0, run.variant.title + ", untrained");
  for (const TrainedVariant& run : runs)
    if (updates > 0 || run.variant.norm == bag_of_words) rows += row_of(run, updates, run.variant.title);
  return markdown_row(titles) + rule + "\n" + rows;
}

std::vector<Panel> figure_3(const TrainedVariants& runs) {
  TrainedVariants trained = runs;
  std::erase_if(trained, [](const TrainedVariant& run) { return run.variant.norm == bag_of_words; });
  std::vector<Panel> panels;
  for (const ScoreColumn& score : columns)
    if (score.value != &TaskScores::sick_rho)  // as in the paper
      panels.push_back(panel_of(trained, {.title = score.title, .x_label = "updates", .y_label = score.title},
                                "step", score.column));
  return panels;
}

}  // namespace lamina
