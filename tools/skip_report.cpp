#include "tools/skip_report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "tools/common_flags.h"

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

std::string number(const char* format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

/// The row of the most updates up to a limit; that of a bag of words is 0.
std::string row_of(const JudgedRun& run, double limit, const std::string& title) {
  const std::vector<double> steps = run.scores.column("step");
  size_t row = steps.size();
  for (size_t i = 0; i < steps.size(); ++i)
    if (steps[i] <= limit && (row == steps.size() || steps[i] >= steps[row])) row = i;
  if (row == steps.size()) return {};
  std::string line = "| " + title + " | " + number("%.0f", steps[row]) + " |";
  for (const ScoreColumn& score : columns)
    line += " " + number(score.format, run.scores.column(score.column)[row]) + " |";
  return line + "\n";
}

/// The most updates for which every trained run has a row.
double updates_of_all(const std::vector<JudgedRun>& runs) {
  double least = std::numeric_limits<double>::infinity();
  for (const JudgedRun& run : runs)
    if (const auto steps = run.scores.column("step"); !steps.empty() && run.norm != "bag-of-words")
      least = std::min(least, std::ranges::max(steps));
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
            number(score.format, scores.*score.value);
  return line;
}

std::string table_3(const std::vector<JudgedRun>& runs) {
  std::string out = "| | updates |", rule = "|---|---|";
  for (const ScoreColumn& score : columns) {
    out += " " + std::string(score.title) + " |";
    rule += "---|";
  }
  out += "\n" + rule + "\n";
  const double updates = updates_of_all(runs);
  for (const JudgedRun& run : runs)
    if (run.norm != "bag-of-words") out += row_of(run, 0, title_of(run.norm) + ", untrained");
  for (const JudgedRun& run : runs)
    if (updates > 0 || run.norm == "bag-of-words") out += row_of(run, updates, title_of(run.norm));
  return out;
}

std::vector<Panel> figure_3(const std::vector<JudgedRun>& runs) {
  std::vector<Panel> panels;
  for (const ScoreColumn& score : columns) {
    if (score.value == &TaskScores::sick_rho) continue;  // as in the paper
    Panel panel{.title = score.title, .x_label = "updates", .y_label = score.title};
    for (const JudgedRun& run : runs) {
      if (run.norm == "bag-of-words") continue;
      std::vector<std::pair<double, double>> points;
      const auto steps = run.scores.column("step"), values = run.scores.column(score.column);
      for (size_t i = 0; i < steps.size(); ++i) points.emplace_back(steps[i], values[i]);
      std::ranges::sort(points);
      Curve curve{.title = title_of(run.norm), .x = {}, .y = {}, .color = color_of(run.norm)};
      for (const auto& [x, y] : points) {
        curve.x.push_back(x);
        curve.y.push_back(y);
      }
      panel.curves.push_back(std::move(curve));
    }
    panels.push_back(std::move(panel));
  }
  return panels;
}

}  // namespace lamina
