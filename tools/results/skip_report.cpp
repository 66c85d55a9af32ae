#include "tools/results/skip_report.h"

#include <algorithm>
#include <array>
#include <limits>

#include "core/files/file.h"
#include "tools/results/norm_table.h"

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

/// Without the bag of words, which learns nothing.
TrainedVariants trained_of(TrainedVariants runs) {
  std::erase_if(runs, [](const TrainedVariant& run) { return run.variant.norm == bag_of_words; });
  return runs;
}

/// The rows of a file of scores in the order of their updates.
Table in_order(const std::string& path) {
  Table table = read_table(path);
  const auto step = static_cast<size_t>(std::ranges::find(table.columns, "step") - table.columns.begin());
  std::ranges::stable_sort(table.rows, {}, [=](const std::vector<double>& row) { return row[step]; });
  return table;
}

}  // namespace

void append_scores(const std::string& path, double updates, const TaskScores& scores) {
  std::vector<std::string> names{"step"};
  std::vector<std::pair<std::string, double>> row{{"step", updates}};
  for (const ScoreColumn& score : columns) {
    names.emplace_back(score.column);
    row.emplace_back(score.column, scores.*score.value);
  }
  MetricsFile::resume(path, names, std::numeric_limits<double>::infinity()).append(row);
  std::string ordered = joined(names) + '\n';
  for (const std::vector<double>& each : in_order(path).rows) {
    std::vector<std::string> fields(each.size());
    std::ranges::transform(each, fields.begin(), number_text);
    ordered += joined(fields) + '\n';
  }
  write_file(path, ordered);
}

std::string line_of(const TaskScores& scores) {
  return joined(columns, [&](const ScoreColumn& score) {
    return text(score.title, ' ', formatted(score.format, scores.*score.value));
  });
}

TrainedVariant read_scores(const std::string& norm, const std::string& path) {
  return {{.norm = norm, .name = norm, .title = title_of(norm)}, in_order(path)};
}

std::string table_3(const TrainedVariants& runs) {
  std::vector<ReportColumn> shown{title_column(""), last("updates", "step", "%.0f")};
  for (const ScoreColumn& score : columns) shown.push_back(last(score.title, score.column, score.format));
  TrainedVariants rows = up_to(0, trained_of(runs));
  for (TrainedVariant& run : rows) run.variant.title += ", untrained";
  const double updates = reached_by_all(trained_of(runs));
  for (const TrainedVariant& run : up_to(updates, runs))
    if (updates > 0 || run.variant.norm == bag_of_words) rows.push_back(run);
  std::erase_if(rows, [](const TrainedVariant& run) { return run.curves.rows.empty(); });
  return table_of(rows, shown);
}

std::vector<Panel> figure_3(const TrainedVariants& runs) {
  const TrainedVariants trained = trained_of(runs);
  std::vector<Panel> panels;
  for (const ScoreColumn& score : columns)
    if (score.value != &TaskScores::sick_rho)  // as in the paper
      panels.push_back(panel_of(trained, {.title = score.title, .x_label = "updates", .y_label = score.title},
                                "step", score.column));
  return panels;
}

}  // namespace lamina
