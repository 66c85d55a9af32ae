// The charts of an exhibit.

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/error.h"
#include "models/run/metrics.h"
#include "tools/report/document.h"
#include "tools/report/paper/values.h"
#include "tools/results/band.h"
#include "tools/results/norm_table.h"

namespace lamina {

namespace {

constexpr size_t most_points = 1500;  // of a curve; a screen has no more columns

/// Six digits are more than a screen can show; fewer bytes for the page. JSON has no NaN: null is a gap.
Json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::strtod(formatted("%.6g", value).c_str(), nullptr);
}

/// The numbers that a chart shows of a trace: of several seeds the median and, unless the file has a band, the range.
Curve numbers_of(const Trace& trace, const ChartPlan& chart) {
  if (trace.seeds.empty())
    return {.x = trace.column(chart.x),
            .y = trace.column(chart.y),
            .low = trace.column(chart.low),
            .high = trace.column(chart.high)};
  std::vector<Table> tables;
  Diverged diverged{.as_lowest = chart.best_is_highest};
  for (const Trace& seed : trace.seeds) {
    diverged.runs.push_back(seed.run->diverged.has_value());
    Table& table = tables.emplace_back(Table{.columns = {"x", "y"}, .rows = {}});
    const std::vector<double> xs = seed.column(chart.x), ys = seed.column(chart.y);
    for (size_t i = 0; i < std::min(xs.size(), ys.size()); ++i) table.rows.push_back({xs[i], ys[i]});
  }
  return median_curve(tables, "x", "y", {}, diverged);
}

/// The points of a curve; of a long one evenly spaced points and the last. Without a number it has none, but lists of them.
Json curve_of(const Trace& trace, const ChartPlan& chart) {
  const Curve numbers = numbers_of(trace, chart);
  const std::vector<double>& xs = numbers.x;
  const size_t stride = (xs.size() + most_points - 1) / most_points;
  Json curve{{"label", trace.label},
             {"norm", trace.look},
             {"dash", trace.dash},
             {"x", Json::array()},
             {"y", Json::array()}};
  const auto add = [&](const char* name, const std::vector<double>& values) {
    if (values.empty()) return;
    Json& points = curve[name] = Json::array();
    for (size_t i = 0; i < xs.size(); ++i)
      if ((i % stride == 0 || i + 1 == xs.size()) && std::isfinite(xs[i]))
        points.push_back(rounded(values[i]));
  };
  add("x", xs);
  add("y", numbers.y);
  add("low", numbers.low);
  add("high", numbers.high);
  return curve;
}

/// Whether one of a trace's seeds has numbers of a column.
bool has_column(const Trace& trace, const std::string& name) {
  return std::ranges::any_of(trace.singles(),
                             [&](const Trace& single) { return !single.column(name).empty(); });
}

/// The levels of a chart, as the first trace of the facet that has them: those of its runs that did not diverge, since what
/// diverged was the training.
void add_levels(const ChartPlan& plan, const std::vector<Trace>& traces, const std::string& facet,
                Json& curves) {
  for (size_t i = 0; i < plan.levels.size(); ++i) {
    const std::string& column = plan.levels[i].column;
    const auto first = std::ranges::find_if(
        traces, [&](const Trace& trace) { return trace.facet == facet && has_column(trace, column); });
    if (first == traces.end()) continue;
    Trace level = *first;
    level.label = plan.levels[i].title;
    level.look = "level";
    level.dash = static_cast<int>(i) + 1;
    std::erase_if(level.seeds, [](const Trace& seed) { return seed.run->diverged.has_value(); });
    curves.push_back(curve_of(level, {.x = plan.x, .y = column}));
  }
}

/// What theory says of a trace, dotted.
void add_theory(const ChartPlan& plan, const Trace& trace, Json& curves) {
  if (trace.column(plan.theory.column).empty()) return;
  Trace theory = trace;
  theory.label += ", " + plan.theory.title;
  theory.dash = 2;
  curves.push_back(curve_of(theory, {.x = plan.x, .y = plan.theory.column}));
}

/// Whether a trace has the chart's columns. Of curves with bands, which stand for several runs, some have no numbers.
bool is_in(const ChartPlan& plan, const Trace& trace) {
  if (!has_column(trace, plan.x) || !has_column(trace, plan.y)) return false;
  return plan.low.empty() ||
         std::ranges::any_of(trace.column(plan.y), [](double value) { return std::isfinite(value); });
}

/// What keeps the paper's curves and values out of a chart: it shows nothing on real data, or only smaller models
/// and parts of the data.
std::string why_left_out(const Exhibit& exhibit, const std::vector<Trace>& traces, const std::string& facet) {
  std::string reason;
  for (const Trace& trace : traces) {
    if (trace.facet != facet) continue;
    reason = why_not_comparable(*trace.run, exhibit, exhibit.full_length);
    if (reason != "synthetic data" && reason != "small preset" && reason != "data not recorded" &&
        part_of_data(*trace.run).empty())
      return {};
  }
  return reason;
}

Json paper_curves(const PaperPanel& panel, const std::string& column) {
  std::vector<PaperCurve> in_order = panel.curves;
  std::ranges::stable_sort(in_order, {}, [](const PaperCurve& curve) { return rank_of(curve.norm); });
  Json curves = Json::array();
  for (const PaperCurve& curve : in_order) {
    if (curve.column != column || curve.norm == "level") continue;  // the text gives levels exactly
    Json& added = curves.emplace_back(
        Json{{"label", title_of(curve.norm)}, {"norm", curve.norm}, {"name", curve.name}});
    for (const auto& [name, values] : {std::pair{"x", &curve.x}, {"y", &curve.y}})
      for (const double value : *values) added[name].push_back(rounded(value));
  }
  return curves;
}

/// What the paper's figure has of the chart, its axes and curves, and the values that its text gives; null where it has none.
/// `reason`: what keeps curves and values out.
Json paper_of(const Exhibit& exhibit, const ChartPlan& plan, const PaperPanel* panel,
              const std::string& reason) {
  if (panel == nullptr) return nullptr;
  const PaperAxis& y = panel->y;
  const auto ends = [](const PaperAxis& axis) {
    return Json{rounded(axis.ours(axis.low)), rounded(axis.ours(axis.high))};
  };
  Json values = Json::array();
  for (const PaperValue& value : paper_values(exhibit.id, plan.y))
    values.push_back({{"title", value.title},
                      {"norm", value.norm},
                      {"x", rounded(value.x)},
                      {"y", value.y},
                      {"source", value.source}});
  return {{"figure", text("Figure ", panel->figure)},
          {"axes", {{"x", ends(panel->x)}, {"y", ends(y)}}},
          {"source", source_of(*panel)},
          {"data", exhibit.paper_data},
          {"line", {{"width", rounded(y.log ? y.line : y.times * y.line)}, {"log", y.log}}},
          {"left_out", reason},
          {"curves", reason.empty() ? paper_curves(*panel, plan.y) : Json::array()},
          {"values", reason.empty() ? std::move(values) : Json::array()}};
}

}  // namespace

Json charts_of(const Exhibit& exhibit, const std::vector<Trace>& traces,
               const std::vector<PaperPanel>& panels) {
  Json charts = Json::array();
  for (const std::string& facet : facets_of(traces))
    for (const ChartPlan& plan : exhibit.charts) {
      Json curves = Json::array();
      for (const Trace& trace : traces) {
        if (trace.facet != facet || !is_in(plan, trace)) continue;
        curves.push_back(curve_of(trace, plan));
        add_theory(plan, trace, curves);
      }
      if (curves.empty()) continue;
      add_levels(plan, traces, facet, curves);
      const std::string reason = why_left_out(exhibit, traces, facet);
      charts.push_back(
          {{"title", facet.empty() ? plan.title : plan.title + ", " + facet},
           {"x", plan.x_label},
           {"y", plan.y_label},
           {"log_x", plan.log_x},
           {"log_y", plan.log_y},
           {"curves", curves},
           {"paper", paper_of(exhibit, plan, panel_of(panels, exhibit.id, plan.y, facet), reason)}});
    }
  return charts;
}

}  // namespace lamina
