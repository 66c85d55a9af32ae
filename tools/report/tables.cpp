// The tables of an exhibit.

#include <algorithm>
#include <map>

#include "core/error.h"
#include "models/analysis/larger.h"
#include "tools/report/document.h"
#include "tools/report/measures.h"

namespace lamina {

namespace {

Json paper_row(const PaperRow& row) {
  return {{"label", row.label}, {"norm", row.norm}, {"source", "paper"}, {"cells", row.cells}};
}

/// The paper's rows and ours under one head.
Json numbers_of(const Exhibit& exhibit, const std::vector<Trace>& traces) {
  Json columns = exhibit.paper_columns, rows = Json::array();
  for (const Measure& measure : exhibit.measures) columns.push_back(measure.title);
  for (const PaperRow& row : exhibit.paper) rows.push_back(paper_row(row));
  if (!exhibit.measures.empty())
    for (const Trace& trace : traces) {
      Json cells = Json::array();
      for (const Measure& measure : exhibit.measures) cells.push_back(measured(trace, measure));
      rows.push_back({{"label", trace.facet.empty() ? trace.label : trace.label + ", " + trace.facet},
                      {"norm", trace.look},
                      {"source", "here"},
                      {"cells", cells}});
    }
  return {{"title", exhibit.paper.empty()                        ? "Measured"
                    : traces.empty() || exhibit.measures.empty() ? "In the paper"
                                                                 : "Paper and ours"},
          {"columns", columns},
          {"rows", rows}};
}

std::string cells_of(const Csv& csv, size_t row, const std::vector<std::string>& columns) {
  std::string all;
  for (const std::string& column : columns)
    if (const auto place = csv.find(column)) all += (all.empty() ? "" : ", ") + csv.rows[row][*place];
  return all;
}

/// "yes, 3 × 10⁻¹⁶"; marked where it should be exact and is not.
Json cell_of(double value, const TablePlan& plan) {
  std::string cell = text(plan.threshold == 0      ? ""
                          : value < plan.threshold ? "yes, "
                                                   : "no, ",
                          pretty(value, 2));
  if (plan.exact_below == 0 || !(value >= plan.exact_below)) return cell;
  return {{"text", std::move(cell)}, {"mark", "not exact"}};
}

/// A table in the making: cells by the names of row and column, in the order in which these came.
class Grid {
 public:
  explicit Grid(const TablePlan& plan) : plan_(plan) {}

  void put(const std::string& row, const std::string& norm, const std::string& column, double value) {
    const size_t r = place_of(rows_, row), c = place_of(columns_, column);
    norms_.resize(rows_.size());
    norms_[r] = norm;
    double& cell = cells_.try_emplace({r, c}, value).first->second;
    cell = analysis::larger(cell, value);
  }

  Json table(const std::string& title) const {
    Json rows = Json::array();
    for (size_t r = 0; r < rows_.size(); ++r) {
      Json cells = Json::array();
      for (size_t c = 0; c < columns_.size(); ++c) {
        const auto cell = cells_.find({r, c});
        cells.push_back(cell == cells_.end() ? Json("") : cell_of(cell->second, plan_));
      }
      rows.push_back({{"label", rows_[r]}, {"norm", norms_[r]}, {"source", "here"}, {"cells", cells}});
    }
    return {{"title", title}, {"columns", columns_}, {"rows", rows}};
  }

 private:
  const TablePlan& plan_;
  std::vector<std::string> rows_, columns_, norms_;
  std::map<std::pair<size_t, size_t>, double> cells_;
};

/// The tables that a plan makes of a file; none when the file lacks a column.
void add_tables(Json& tables, const TablePlan& plan, const FoundRun& run, const Csv& csv) {
  std::vector<std::string> parts;
  std::vector<Grid> grids;
  for (size_t row = 0; row < csv.rows.size(); ++row) {
    const size_t part = place_of(parts, cells_of(csv, row, {plan.split}));
    if (part == grids.size()) grids.emplace_back(plan);
    for (const std::string& name : plan.values)
      if (const auto place = csv.find(name))
        grids[part].put(cells_of(csv, row, plan.names), cells_of(csv, row, {plan.names.back()}),
                        plan.column.empty() ? name : cells_of(csv, row, {plan.column}),
                        number_in(csv.rows[row][*place]));
  }
  for (size_t part = 0; part < parts.size(); ++part) {
    Json table = grids[part].table(text(plan.title, parts[part], " (", run.path, ')'));
    if (!table["columns"].empty()) tables.push_back(std::move(table));
  }
}

}  // namespace

Json tables_of(const Exhibit& exhibit, const std::vector<Trace>& traces, const std::vector<FoundRun>& runs) {
  Json tables = pairs_of(exhibit, traces, runs);
  Json numbers = numbers_of(exhibit, traces);
  if (!numbers["rows"].empty()) tables.push_back(std::move(numbers));
  for (const TablePlan& plan : exhibit.tables)
    for (const FoundRun& run : runs)
      if (const auto file = run.files.find(exhibit.file); belongs(run, exhibit) && file != run.files.end())
        add_tables(tables, plan, run, file->second);
  for (const FoundRun& run : runs)
    if (run.study && belongs(run, exhibit))
      for (Json& table : verdict_tables(*run.study)) tables.push_back(std::move(table));
  return tables;
}

}  // namespace lamina
