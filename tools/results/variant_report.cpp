#include "tools/results/variant_report.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/run/metrics.h"
#include "tools/results/norm_table.h"

namespace lamina {

namespace {

/// A dash for a table without rows.
std::string last_of(const Table& table, const std::string& column, const char* format, double scale) {
  return table.rows.empty() ? "-" : formatted(format, scale * table.column(column).back());
}

/// The number that a cell begins with; infinite where there is none.
double number_of(const std::string& cell) {
  const auto number = number_from(cell.substr(0, cell.find_first_not_of("0123456789.e-+")));
  return number.value_or(std::numeric_limits<double>::infinity());
}

/// All that show the same digits are the lowest.
void mark_lowest(std::vector<std::vector<std::string>>& rows, size_t column) {
  const auto value = [&](const std::vector<std::string>& row) { return number_of(row[column]); };
  if (rows.size() < 2) return;
  const double least = value(*std::ranges::min_element(rows, {}, value));
  for (auto& row : rows)
    if (value(row) == least && std::isfinite(least)) row[column] = "**" + row[column] + "**";
}

}  // namespace

ReportColumn lowest_bold(ReportColumn column) {
  column.lowest_is_bold = true;
  return column;
}

double reached_by_all(const TrainedVariants& trained) {
  double step = std::numeric_limits<double>::infinity();
  for (const TrainedVariant& each : trained)
    if (!each.curves.rows.empty()) step = std::min(step, each.curves.column("step").back());
  return step;
}

TrainedVariants up_to(double step, TrainedVariants trained) {
  for (TrainedVariant& each : trained) {
    const std::vector<double> steps = each.curves.column("step");
    const auto kept = static_cast<size_t>(std::ranges::upper_bound(steps, step) - steps.begin());
    if (kept < steps.size()) each.test = {};  // of a model that may be of a later step
    each.curves.rows.resize(kept);
  }
  return trained;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += (cell.empty() ? " " : " " + cell + " ") + "|";
  return row + "\n";
}

std::string table_with_head(const std::vector<std::string>& titles, const std::string& rows) {
  std::string rule = "|";
  for (size_t i = 0; i < titles.size(); ++i) rule += "---|";
  return markdown_row(titles) + rule + '\n' + rows;
}

std::string table_of(const TrainedVariants& trained, const std::vector<ReportColumn>& columns) {
  std::vector<std::string> titles(columns.size());
  std::ranges::transform(columns, titles.begin(), &ReportColumn::title);
  std::string text;
  std::vector<std::vector<std::string>> rows;
  for (const TrainedVariant& each : trained) {
    std::vector<std::string> cells(columns.size());
    std::ranges::transform(columns, cells.begin(),
                           [&](const ReportColumn& column) { return column.cell(each); });
    rows.push_back(cells);
  }
  for (size_t i = 0; i < columns.size(); ++i)
    if (columns[i].lowest_is_bold) mark_lowest(rows, i);
  for (const auto& row : rows) text += markdown_row(row);
  return table_with_head(titles, text);
}

ReportColumn title_column(const std::string& title) {
  return {title, [](const TrainedVariant& each) { return each.variant.title; }};
}

ReportColumn last(const std::string& title, const std::string& column, const char* format, double scale) {
  return {title, [=](const TrainedVariant& each) { return last_of(each.curves, column, format, scale); }};
}

ReportColumn tested(const std::string& title, const std::string& column, const char* format, double scale) {
  return {title, [=](const TrainedVariant& each) { return last_of(each.test, column, format, scale); }};
}

ReportColumn at_lowest(const std::string& of, const std::string& title, const std::string& column,
                       const char* format, double scale) {
  return {title, [=](const TrainedVariant& each) {
            if (each.curves.rows.empty()) return std::string("-");
            return formatted(format, scale * each.curves.column(column)[lowest_row(each.curves, of)]);
          }};
}

size_t lowest_row(const Table& table, std::string_view column) {
  const std::vector<double> values = table.column(column);
  return static_cast<size_t>(std::ranges::min_element(values) - values.begin());
}

Panel panel_of(const TrainedVariants& trained, Panel panel, std::string_view x, std::string_view y) {
  for (const auto& [variant, curves, test] : trained)
    panel.curves.push_back({.title = variant.title,
                            .x = curves.column(x),
                            .y = curves.column(y),
                            .line = variant.line,
                            .color = color_of(variant.norm)});
  return panel;
}

}  // namespace lamina
