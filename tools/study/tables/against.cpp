#include "tools/study/tables/against.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "core/error.h"
#include "models/evidence/choice.h"
#include "models/evidence/interval.h"
#include "tools/results/palette.h"
#include "tools/results/variant_report.h"
#include "tools/study/tables/ends.h"
#include "tools/study/tables/variant_look.h"

namespace lamina {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double wide = 10;  ///< a range of so many times is shown on a logarithmic axis

/// Combinations that differ in the setting alone, by its value.
struct Group {
  std::string title;  ///< without the setting
  size_t first;       ///< of the combinations
  std::map<double, Ends> ends;
};

std::vector<Group> groups_of(const Study& study, const std::vector<MeasuredRun>& runs,
                             const std::string& metric, const std::string& panel) {
  std::vector<Group> groups;
  for (size_t i = 0; i < study.combinations.size(); ++i) {
    if (!in_panel(study, i, panel)) continue;
    const std::string title = title_in_panel(study, i, study.against);
    auto group = std::ranges::find(groups, title, &Group::title);
    if (group == groups.end()) group = groups.insert(group, {.title = title, .first = i, .ends = {}});
    group->ends[study.combinations[i].settings.get<double>(study.against)] = ends_of(study, runs, metric, i);
  }
  return groups;
}

/// "2.74 (2.73 to 2.76)", and how many failed.
std::string cell_of(const Ends& ends) {
  if (ends.runs == 0) return "";
  std::string words;
  if (!ends.values.empty()) {
    const auto [low, high] = std::ranges::minmax(ends.values);
    words = text(cell(median_of(ends.values)), " (", cell(low), " to ", cell(high), ")");
  }
  if (ends.failed == 0) return words;
  return text(words, words.empty() ? "" : "; ", ends.failed, " of ", ends.runs, " failed");
}

/// The value of the setting with the best median of all runs, the first of equal ones; nothing where half of the runs have
/// no number.
std::optional<double> best_place(const Study& study, const std::string& metric, const Group& group) {
  std::optional<double> best;
  double lowest = infinite;
  for (const auto& [place, ends] : group.ends) {
    const bool highest = study.best_is_highest(metric);
    const double median = (highest ? -1 : 1) * ends.median_of_all(highest);
    if (!is_less(median, lowest)) continue;
    lowest = median;
    best = place;
  }
  return best;
}

std::optional<double> largest_without_failure(const Group& group) {
  std::optional<double> largest;
  for (const auto& [place, ends] : group.ends)
    if (ends.runs > 0 && ends.failed == 0) largest = place;
  return largest;
}

std::string table_against(const Study& study, const std::vector<MeasuredRun>& runs,
                          const std::string& metric) {
  std::vector<Group> rows;  // with the panel's title in front of their own
  std::set<double> places;
  for (const std::string& value : panel_values(study))
    for (Group& group : groups_of(study, runs, metric, value)) {
      for (const auto& [place, ends] : group.ends) places.insert(place);
      if (!value.empty()) group.title.insert(0, panel_title(study, value) + ", ");
      rows.push_back(std::move(group));
    }
  std::vector<std::string> head{""};
  for (const double place : places) head.push_back(study.against + ' ' + cell(place));
  head.push_back("best " + study.against);
  head.push_back("largest without failure");
  std::string lines;
  for (const Group& group : rows) {
    std::vector<std::string> cells{group.title};
    for (const double place : places) {
      const auto here = group.ends.find(place);
      cells.push_back(here == group.ends.end() ? "" : cell_of(here->second));
    }
    for (const auto& chosen : {best_place(study, metric, group), largest_without_failure(group)})
      cells.push_back(chosen ? cell(*chosen) : "none");
    lines += markdown_row(cells);
  }
  return table_with_head(head, lines);
}

Panel panel_against(const Study& study, const std::vector<Group>& groups, const std::string& metric,
                    const std::string& title) {
  Panel panel{.title = title, .x_label = study.against, .y_label = metric};
  panel.log_y = std::ranges::find(study.log, metric) != study.log.end();
  std::vector<size_t> firsts;
  firsts.reserve(groups.size());
  for (const Group& group : groups) firsts.push_back(group.first);
  const std::vector<int> colors = colors_of(study, firsts);
  double lowest = infinite, highest = -lowest;
  for (size_t i = 0; i < groups.size(); ++i) {
    Curve curve{.title = groups[i].title, .line = line_at(i), .color = colors[i]};
    for (const auto& [place, ends] : groups[i].ends) {
      lowest = std::min(lowest, place);
      highest = std::max(highest, place);
      const double median = ends.median_of_all(study.best_is_highest(metric));
      if (ends.runs == 0) continue;
      const bool any = !ends.values.empty();  // else the line and the band are interrupted here
      curve.x.push_back(place);
      curve.y.push_back(median);
      curve.low.push_back(any ? std::ranges::min(ends.values) : infinite);
      curve.high.push_back(any ? std::ranges::max(ends.values) : infinite);
    }
    panel.curves.push_back(curve);
  }
  panel.log_x = lowest > 0 && highest >= wide * lowest;
  if (study.limit && study.limit->metric == metric)
    panel.curves.push_back({.title = "limit",
                            .x = {lowest, highest},
                            .y = {study.limit->worst, study.limit->worst},
                            .line = Line::dotted,
                            .color = plain_color(7)});
  return panel;
}

/// Panels of the same metric can be compared.
void share_axis(std::vector<Panel>& panels, const std::string& metric) {
  std::vector<double> ends;
  for (const Panel& panel : panels)
    for (const Curve& curve : panel.curves)
      if (panel.y_label == metric)
        for (const auto* values : {&curve.y, &curve.low, &curve.high})
          std::ranges::copy_if(*values, std::back_inserter(ends), [](double y) { return std::isfinite(y); });
  if (ends.empty() || panels.size() < 2) return;
  const auto [low, high] = std::ranges::minmax(ends);
  const double margin = (high - low) / 20;
  for (Panel& panel : panels)
    if (panel.y_label == metric && !panel.log_y) {
      panel.y_min = low - margin;
      panel.y_max = high + margin;
    }
}

}  // namespace

std::string section_against(const Study& study, const std::vector<MeasuredRun>& runs,
                            const std::vector<std::string>& metrics) {
  std::string all = text("## Against ", study.against, "\n\nThe last value of each run: median and range.");
  if (study.limit)
    all +=
        text(" Failed: diverged, or ", study.limit->metric, " ended ",
             study.best_is_highest(study.limit->metric) ? "below " : "above ", cell(study.limit->worst), ".");
  all += "\n\n";
  for (const std::string& metric : metrics)
    all += text("### ", metric, "\n\n", table_against(study, runs, metric), '\n');
  return all;
}

std::vector<Panel> figure_against(const Study& study, const std::vector<MeasuredRun>& runs,
                                  const std::vector<std::string>& metrics) {
  std::vector<Panel> panels;
  for (const std::string& value : panel_values(study))
    for (const std::string& metric : metrics)
      panels.push_back(
          panel_against(study, groups_of(study, runs, metric, value), metric, panel_title(study, value)));
  for (const std::string& metric : metrics) share_axis(panels, metric);
  return panels;
}

}  // namespace lamina
