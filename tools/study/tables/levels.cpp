#include "tools/study/tables/levels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "models/evidence/interval.h"
#include "tools/results/variant_report.h"
#include "tools/study/tables/variant_look.h"

namespace lamina {

namespace {

bool counts_epochs(const MeasuredRun& run) {
  return std::ranges::find(run.curves.columns, "epoch") != run.curves.columns.end();
}

/// The epoch of metrics.csv at whose end so many updates had been made, or the updates where it has no epochs.
double time_of(const MeasuredRun& run, double updates) {
  if (!counts_epochs(run)) return updates;
  const std::vector<double> steps = run.curves.column("step"), epochs = run.curves.column("epoch");
  const auto row = std::ranges::lower_bound(steps, updates);
  if (row != steps.end()) return epochs[static_cast<size_t>(row - steps.begin())];
  return epochs.empty() ? 1 : epochs.back() + 1;  // recorded in an epoch that had no end
}

/// "12 (10 to 14)"; "12 (10 to 12), 2 of 3"; "-, 1 of 3", where half of the runs never came there; "-", where none did.
std::string cell_of(const std::vector<double>& came, size_t runs) {
  if (came.empty()) return runs == 0 ? "" : "-";
  std::vector<double> all = came;
  all.resize(runs, std::numeric_limits<double>::infinity());
  const double median = median_of(all);
  const auto [first, last] = std::ranges::minmax(came);
  return text(std::isfinite(median) ? text(cell(median), " (", cell(first), " to ", cell(last), ")") : "-",
              came.size() < runs ? text(", ", came.size(), " of ", runs) : "");
}

std::string rows_of(const Study& study, const std::vector<MeasuredRun>& runs, const ValuesOf& levels) {
  std::string rows;
  for (size_t i = 0; i < study.combinations.size(); ++i) {
    std::vector<std::string> cells{study.combinations[i].name};
    for (const double level : levels.values) {
      std::vector<double> came;
      size_t ended = 0;
      for (const MeasuredRun& run : runs) {
        if (run.run.combination != i || !run.ended()) continue;
        ++ended;
        if (const auto updates = updates_to_reach(run, levels.metric, level, study))
          came.push_back(time_of(run, *updates));
      }
      cells.push_back(cell_of(came, ended));
    }
    rows += markdown_row(cells);
  }
  return rows;
}

}  // namespace

std::string section_levels(const Study& study, const std::vector<MeasuredRun>& runs) {
  if (study.levels.empty()) return "";
  const char* const period = std::ranges::any_of(runs, counts_epochs) ? "epoch" : "update";
  std::string all =
      text("## Levels\n\nThe first ", period, " after which a run was measured there: median and range.\n\n");
  for (const ValuesOf& levels : study.levels) {
    const char* const beyond = study.best_is_highest(levels.metric) ? "at least " : "at most ";
    std::vector<std::string> head{"variant"};
    for (const double level : levels.values) head.push_back(beyond + cell(level));
    all += text("### ", levels.metric, "\n\n", table_with_head(head, rows_of(study, runs, levels)), '\n');
  }
  return all;
}

}  // namespace lamina
