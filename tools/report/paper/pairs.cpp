// The paper's numbers and ours in pairs, with what lies between them.

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/error.h"
#include "models/analysis/larger.h"
#include "models/evidence/interval.h"
#include "models/run/metrics.h"
#include "tools/report/document.h"
#include "tools/report/measures.h"
#include "tools/report/paper/values.h"

namespace lamina {

namespace {

/// The paper's digits behind the point: "46.6" has one.
int decimals_of(const std::string& number) {
  const size_t point = number.find('.');
  return point == std::string::npos ? 0 : static_cast<int>(number.size() - point - 1);
}

/// "+0.31", with as many digits as the paper's number.
std::string difference(double ours, const std::string& paper) {
  const double other = number_in(paper);
  if (!std::isfinite(ours) || !std::isfinite(other)) return "–";
  const double between = ours - other;
  return text(between < 0 ? "−" : "+",
              formatted(text("%.", decimals_of(paper), 'f').c_str(), std::abs(between)));
}

Json pair_row(const std::string& label, const std::string& norm, const std::string& group,
              const Json& cells) {
  return {{"label", label}, {"norm", norm}, {"source", "pair"}, {"group", group}, {"cells", cells}};
}

bool stands_beside(const PaperRow& row, const Exhibit& exhibit, const Trace& trace) {
  for (size_t i = 0; i < row.of.size(); ++i)
    if (setting_of(*trace.run, exhibit.distinctions[i].name) != row.of[i]) return false;
  return !row.norm.empty() && row.norm == trace.norm;
}

/// The first row of the paper with this norm and what else tells them apart: later ones are of other trainings.
const PaperRow* row_of(const Exhibit& exhibit, const Trace& trace) {
  const auto row = std::ranges::find_if(
      exhibit.paper, [&](const PaperRow& each) { return stands_beside(each, exhibit, trace); });
  return row == exhibit.paper.end() ? nullptr : &*row;
}

/// How long the paper trained for a row: where the row says so itself, that; its curves may end earlier.
double length_of(const PaperRow& paper, const Exhibit& exhibit) {
  for (size_t i = 0; i < exhibit.measures.size(); ++i) {
    const Measure& measure = exhibit.measures[i];
    if (measure.column == exhibit.length_column && measure.pick == Pick::last && !paper.cells[i].empty())
      return number_in(paper.cells[i]);
  }
  return exhibit.full_length;
}

/// How far a run came, or was to come where it has no rows; NaN where nothing tells.
double length_done(const FoundRun& run, const Exhibit& exhibit) {
  const auto file = run.files.find(exhibit.file);
  if (file == run.files.end()) return NAN;
  const auto place = file->second.find(exhibit.length_column);
  return place && !file->second.rows.empty() ? number_in(file->second.rows.back()[*place])
                                             : number_in(setting_of(run, exhibit.length_column + "s"));
}

/// What is to be known of a trace beside this row, " (5 of 200 epochs, so no difference is formed)", and whether one is: all
/// seeds with a number must be comparable.
std::pair<std::string, bool> remark_of(const PaperRow& paper, const Exhibit& exhibit, const Trace& trace) {
  const double length = length_of(paper, exhibit);
  std::string longer;
  for (const Trace& single : trace.singles()) {
    if (single.run->diverged) continue;
    const std::string reason = why_not_comparable(*single.run, exhibit, length);
    if (!reason.empty()) return {" (" + reason + ", so no difference is formed)", false};
    const double done = length_done(*single.run, exhibit);
    if (length > 0 && done > length)
      longer = " (longer than the paper's: " + progress(done, length, exhibit.length_column) + ')';
  }
  return {longer, true};
}

/// " on data/mnist": nothing else tells the reader whether the data are the paper's.
std::string data_of(const FoundRun& run) {
  const std::string data = setting_of(run, "data");
  return data.empty() ? "" : " on " + data;
}

/// Measures of runs.
void add_measured(Json& rows, const Exhibit& exhibit, const Trace& trace) {
  const PaperRow* const paper = row_of(exhibit, trace);
  if (paper == nullptr) return;
  const auto [remark, comparable] = remark_of(*paper, exhibit, trace);
  const std::string group = text("paper: ", paper->label, " on ", exhibit.paper_data, "; ours: ", trace.label,
                                 data_of(*trace.run), remark);
  for (size_t i = 0; i < exhibit.measures.size(); ++i) {
    const std::string& theirs = paper->cells[i];
    const std::vector<double> ours = picks(trace, exhibit.measures[i]);
    if (theirs.empty() || ours.empty()) continue;
    rows.push_back(pair_row(exhibit.measures[i].title, trace.norm, group,
                            {theirs, measured(trace, exhibit.measures[i]),
                             comparable ? difference(median_of(ours), theirs) : std::string("–")}));
  }
}

/// The largest value that a file has in a row of these names and columns, nothing for none. A NaN is the largest: what has
/// no number is not invariant.
std::optional<double> largest_in(const Csv& csv, const TablePlan& plan, const std::string& norm,
                                 const std::string& column) {
  const auto name = csv.find(plan.names.back()), kind = csv.find(plan.column), split = csv.find(plan.split),
             value = csv.find(plan.values.front());
  std::optional<double> largest;
  if (!name || !kind || !split || !value) return largest;
  for (const auto& row : csv.rows)
    if (row[*name] == norm && row[*kind] == column && number_in(row[*split]) == 0)
      largest = analysis::larger(largest.value_or(0), number_in(row[*value]));
  return largest;
}

/// Yes and no against a file of measured changes, at the first value of the split, 0.
void add_verdicts(Json& rows, const Exhibit& exhibit, const TablePlan& plan, const Csv& csv) {
  for (const PaperRow& paper : exhibit.paper)
    for (size_t i = 0; i < exhibit.paper_columns.size(); ++i) {
      const std::string& column = exhibit.paper_columns[i];
      const std::optional<double> change = largest_in(csv, plan, paper.norm, column);
      if (!change) continue;
      const std::string ours = *change < plan.threshold ? "yes" : "no";
      rows.push_back(pair_row(column, paper.norm, text("paper: ", paper.label, "; ours: epsilon 0"),
                              {paper.cells[i], text(ours, ", ", pretty(*change, 2)),
                               ours == paper.cells[i] ? "none" : "differs"}));
    }
}

/// "batch 64 and not 128" of a setting that is known of both and differs; or else empty.
std::string other_setting(const FoundRun& run, const Exhibit& exhibit) {
  for (const auto& [name, values] : paper_settings(exhibit.id)) {
    const std::string ours = setting_of(run, name);
    const auto is_ours = [&](const std::string& theirs) {
      return ours == theirs || number_in(ours) == number_in(theirs);  // NaN of words
    };
    if (!ours.empty() && std::ranges::none_of(values, is_ours))
      return text(name, ' ', ours, " and not ", values.front());
  }
  return {};
}

}  // namespace

std::string why_not_comparable(const FoundRun& run, const Exhibit& exhibit, double length) {
  if (!exhibit.on_data) return {};
  if (!run.config) return "data not recorded";
  if (setting_of(run, "data").empty()) return "synthetic data";
  if (setting_of(run, "preset") == "small") return "small preset";
  if (std::string part = part_of_data(run); !part.empty()) return part;
  if (std::string other = other_setting(run, exhibit); !other.empty()) return other;
  const double done = length_done(run, exhibit);
  return done < length ? progress(done, length, exhibit.length_column) : "";
}

Json pairs_of(const Exhibit& exhibit, const std::vector<Trace>& traces, const std::vector<FoundRun>& runs) {
  Json rows = Json::array();
  if (exhibit.paper_columns.empty()) {
    for (const Trace& trace : traces) add_measured(rows, exhibit, trace);
  } else {
    for (const TablePlan& plan : exhibit.tables)
      for (const FoundRun& run : runs)
        if (const auto file = run.files.find(exhibit.file); belongs(run, exhibit) && file != run.files.end())
          add_verdicts(rows, exhibit, plan, file->second);
  }
  if (rows.empty()) return Json::array();
  return Json::array({{{"title", "Paper beside ours"},
                       {"columns", {"paper", "ours", "difference"}},
                       {"rows", std::move(rows)}}});
}

}  // namespace lamina
