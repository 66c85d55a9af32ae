#include "tools/lab/lab_report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/error.h"
#include "models/evidence/interval.h"
#include "models/lab/lab_verdict.h"
#include "tools/results/norm_table.h"
#include "tools/results/palette.h"
#include "tools/results/variant_report.h"
#include "tools/study/tables/study_report.h"
#include "tools/study/tables/variant_look.h"

namespace lamina::lab {

namespace {

constexpr size_t most_columns = 10;  ///< of a table; a longer curve is shown by a few numbers of it

/// "layer" of "layer with momentum".
std::string first_word(const std::string& variant) { return variant.substr(0, variant.find(' ')); }

std::string title_of_variant(const std::string& variant) {
  const std::string word = first_word(variant);
  return color_of(word) < 0 ? variant : title_of(word) + variant.substr(word.size());
}

/// The values of all seeds, at each x.
std::map<double, std::vector<double>> values_by_x(const Rows& rows, const std::string& variant,
                                                  const std::string& quantity) {
  std::map<double, std::vector<double>> values;
  for (const Observation& row : rows)
    if (row.variant == variant && row.quantity == quantity) values[row.x].push_back(row.value);
  return values;
}

/// What the seeds have in common. The median is that of all of them, of which one without a finite value counts as above
/// every other: not finite where half of them have none. The range is that of the others.
struct Spread {
  size_t count = 0;  ///< of finite values
  double median = 0, low = 0, high = 0;
};
Spread spread_of(std::vector<double> values) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  Spread spread{.low = infinite, .high = -infinite};
  for (double& value : values) {
    if (!std::isfinite(value)) {
      value = infinite;
      continue;
    }
    ++spread.count;
    spread.low = std::min(spread.low, value);
    spread.high = std::max(spread.high, value);
  }
  spread.median = median_of(values);
  return spread;
}

// --- Tables

/// One number for each variant and seed: median and range.
std::string single_rows(const Rows& rows, const std::string& quantity) {
  std::string all;
  for (const std::string& variant : variants_of(rows, quantity))
    for (const auto& [x, values] : values_by_x(rows, variant, quantity)) {
      const Spread spread = spread_of(values);
      all += markdown_row({title_of_variant(variant), text(spread.count), cell(spread.median),
                           cell(spread.low), cell(spread.high)});
    }
  return table_with_head({"", "n", "median", "lowest", "highest"}, all);
}

/// The medians at each x.
std::string curve_rows(const Rows& rows, const std::string& quantity, const std::vector<double>& columns,
                       const std::string& x_label) {
  std::vector<std::string> titles{x_label};
  for (const double x : columns) titles.push_back(formatted("%.6g", x));
  std::string all;
  for (const std::string& variant : variants_of(rows, quantity)) {
    const auto values = values_by_x(rows, variant, quantity);
    std::vector<std::string> cells{title_of_variant(variant)};
    for (const double x : columns) {
      const auto at = values.find(x);
      cells.push_back(at == values.end() ? "" : cell(spread_of(at->second).median));
    }
    all += markdown_row(cells);
  }
  return table_with_head(titles, all);
}

/// Of a long curve some x, evenly chosen, the first and the last among them.
std::vector<double> thinned(const std::vector<double>& all) {
  if (all.size() <= most_columns) return all;
  std::vector<double> some;
  for (size_t i = 0; i < most_columns; ++i)
    some.push_back(all[(i * (all.size() - 1) + (most_columns - 1) / 2) / (most_columns - 1)]);
  return some;
}

std::string quantity_section(const Lab& lab, const Rows& rows, const std::string& quantity) {
  std::vector<double> columns;
  for (const Observation& row : rows)
    if (row.quantity == quantity) columns.push_back(row.x);
  std::ranges::sort(columns);
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  const bool single = columns.size() == 1;
  const auto chart = std::ranges::find(lab.charts, quantity, &LabChart::quantity);
  const std::string x_label = chart == lab.charts.end() ? "x" : chart->x_label;
  return text("### ", quantity, "\n\n", single ? "" : "Median of the seeds:\n\n",
              single ? single_rows(rows, quantity) : curve_rows(rows, quantity, thinned(columns), x_label),
              '\n');
}

// --- Figure

/// The median of the seeds at each x, with their range as a band; of one seed there is none. An infinite median interrupts
/// the line.
Curve curve_of(const Rows& rows, const std::string& variant, const std::string& quantity) {
  Curve curve{.title = title_of_variant(variant)};
  const bool several = seeds_of(rows).size() > 1;
  for (const auto& [x, values] : values_by_x(rows, variant, quantity)) {
    const Spread spread = spread_of(values);
    curve.x.push_back(x);
    curve.y.push_back(spread.median);
    if (!several) continue;
    curve.low.push_back(spread.low);
    curve.high.push_back(spread.high);
  }
  return curve;
}

/// A norm's own colour for the variants of that norm, each with a line of its own, the first solid; for others a colour that
/// no norm has.
Panel panel_of(const LabChart& chart, const Rows& rows) {
  Panel panel{.title = chart.title,
              .x_label = chart.x_label,
              .y_label = chart.y_label,
              .log_x = chart.log_x,
              .log_y = chart.log_y};
  const std::vector<std::string> variants =
      chart.variants.empty() ? variants_of(rows, chart.quantity) : chart.variants;
  std::map<int, size_t> used;  // lines of each colour
  size_t plain = 0;
  for (const std::string& variant : variants) {
    Curve curve = curve_of(rows, variant, chart.quantity);
    const int own = color_of(first_word(variant));
    curve.color = own >= 0 ? own : plain_color(plain++);
    if (own >= 0) curve.line = static_cast<Line>(std::min(dashes.size() - 1, used[own]++));
    panel.curves.push_back(std::move(curve));
  }
  return panel;
}

/// How surely, in a few words: the number with its interval, or why there is none.
std::string number_of(const Verdict& verdict) {
  if (!verdict.has_number()) return verdict.why;
  return text(verdict.claim.ratio ? "ratio " : "difference ", formatted("%.3g", verdict.number), " (",
              formatted("%.3g", verdict.student.low), " to ", formatted("%.3g", verdict.student.high), ")");
}

}  // namespace

std::string summary_of(const Lab& lab, const Rows& rows, const std::vector<Verdict>& verdicts) {
  std::string all = text("# ", lab.title, "\n\n> ", lab.sentence, "\n\n", lab.source, "\n\n", lab.setting,
                         "\n\n", seeds_of(rows).size(), " seeds.\n\n## Claims\n\n");
  all += text("A verdict is Student's t at ", 100 * verdict_confidence,
              "% over pairs of one seed, or for what is exact the count of seeds in which it is so; "
              "models/evidence/README.md says more.\n\n");
  for (size_t i = 0; i < verdicts.size(); ++i)
    all += claim_section(verdicts[i], i + 1, verdicts[i].claim.metric);
  all += "## Measured\n\n";
  for (const std::string& quantity : quantities_of(rows)) all += quantity_section(lab, rows, quantity);
  return all;
}

std::vector<Panel> figure_of(const Lab& lab, const Rows& rows) {
  std::vector<Panel> panels;
  for (const LabChart& chart : lab.charts) panels.push_back(panel_of(chart, rows));
  return panels;
}

std::string curves_csv(const Rows& rows) {
  const std::vector<std::string> quantities = quantities_of(rows);
  std::map<std::pair<std::string, double>, std::map<std::string, std::vector<double>>> values;
  for (const Observation& row : rows) values[{row.variant, row.x}][row.quantity].push_back(row.value);
  std::string csv = "variant,x";
  for (const std::string& quantity : quantities)
    csv += text(',', quantity, ',', quantity, " low,", quantity, " high");
  csv += '\n';
  for (const auto& [place, measured] : values) {
    csv += text(place.first, ',', formatted("%.6g", place.second));
    for (const std::string& quantity : quantities) {
      const auto found = measured.find(quantity);
      const Spread spread = found == measured.end() ? Spread{} : spread_of(found->second);
      if (spread.count == 0 || !std::isfinite(spread.median)) {
        csv += ",,,";
        continue;
      }
      for (const double value : {spread.median, spread.low, spread.high})
        csv += ',' + formatted("%.6g", value);
    }
    csv += '\n';
  }
  return csv;
}

void report_lab(const Lab& lab, const Rows& rows, const ResultFolder& results) {
  const std::vector<Verdict> verdicts = verdicts_of(lab, rows);
  results.report(summary_of(lab, rows, verdicts));
  results.write(lab.name + ".csv", to_csv(rows));
  results.write("curves.csv", curves_csv(rows));
  results.write("verdicts.json", verdicts_json(verdicts));
  results.draw("figure", figure_of(lab, rows));
}

std::string table_of(const std::vector<LabResult>& results) {
  std::string rows;
  for (const LabResult& each : results)
    for (const Verdict& verdict : each.verdicts)
      rows += markdown_row({text('`', each.lab->name, '`'), words_of(verdict), name_of(verdict.answer),
                            number_of(verdict), text(verdict.pairs.size())});
  return table_with_head({"lab", "claim", "verdict", "how surely", "seeds"}, rows);
}

}  // namespace lamina::lab
