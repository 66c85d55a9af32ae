#pragma once
// The variants that a call of a command trains, and what tells them apart: tables with a row and panels with a curve
// for each.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/run/metrics.h"
#include "models/run/run_folder.h"
#include "tools/results/plot.h"

namespace lamina {

/// One of the models that a call of a command trains.
struct Variant {
  std::string norm;           ///< a value of --norm
  std::string name;           ///< of its folder, "layer-b128"
  std::string title;          ///< in tables and legends, "layer norm"
  std::string label = title;  ///< on the progress line
  Settings own = {};          ///< its settings where others have other ones
  Line line = Line::solid;    ///< of its curves
  double work = 1;            ///< beside others', in updates
  std::string setting(std::string_view key) const { return own.get<std::string>(key); }
};

struct TrainedVariant {
  Variant variant;
  Table curves;     ///< its metrics.csv
  Table test = {};  ///< its test.csv; empty where there is none
};
using TrainedVariants = std::vector<TrainedVariant>;

/// The last step that all have reached, of those that have come to a first one.
double reached_by_all(const TrainedVariants& trained);
/// The same without the rows of their curves after this step, and of those that have some without the test.
TrainedVariants up_to(double step, TrainedVariants trained);

/// A row of a markdown table: "| a | b |\n".
std::string markdown_row(const std::vector<std::string>& cells);
/// A table of such rows with this head.
std::string table_with_head(const std::vector<std::string>& titles, const std::string& rows);

/// A column of a table with a row for each variant.
struct ReportColumn {
  std::string title;
  std::function<std::string(const TrainedVariant&)> cell;
  bool lowest_is_bold = false;  ///< of several rows: in asterisks
};
/// The same column, its lowest number in bold.
ReportColumn lowest_bold(ReportColumn column);
std::string table_of(const TrainedVariants& trained, const std::vector<ReportColumn>& columns);

/// Its title.
ReportColumn title_column(const std::string& title);
/// The last value of a column of metrics.csv, or of test.csv.
ReportColumn last(const std::string& title, const std::string& column, const char* format, double scale = 1);
ReportColumn tested(const std::string& title, const std::string& column, const char* format,
                    double scale = 1);

/// The value of a column of metrics.csv where column `of` is lowest for the first time.
ReportColumn at_lowest(const std::string& of, const std::string& title, const std::string& column,
                       const char* format, double scale = 1);

/// The first row with the lowest value of a column.
size_t lowest_row(const Table& table, std::string_view column);

/// The panel with a curve for each variant: column `y` of its metrics.csv against column `x`.
Panel panel_of(const TrainedVariants& trained, Panel panel, std::string_view x, std::string_view y);

}  // namespace lamina
