#include "tools/report/paper/curves.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "tools/report/paper/known_file.h"

namespace lamina {

namespace {

PaperAxis axis_from(const Json& json) {
  return {.name = json.at("name"),
          .low = json.at("ends").at(0),
          .high = json.at("ends").at(1),
          .line = json.at("line"),
          .log = json.at("scale") == "log",
          .times = json.at("times"),
          .plus = json.at("plus")};
}

std::vector<double> values_from(const Json& json, const PaperAxis& axis) {
  std::vector<double> values;
  for (const Json& value : json) values.push_back(value.is_null() ? NAN : axis.ours(value.get<double>()));
  return values;
}

PaperPanel panel_from(const Json& json) {
  PaperPanel panel{.figure = json.at("figure"),
                   .page = json.at("page"),
                   .panel = json.at("panel"),
                   .exhibit = json.at("exhibit"),
                   .facet = json.at("facet"),
                   .x = axis_from(json.at("x")),
                   .y = axis_from(json.at("y")),
                   .curves = {}};
  for (const Json& each : json.at("curves"))
    panel.curves.push_back({.name = each.at("name"),
                            .norm = each.at("norm"),
                            .column = each.at("column"),
                            .x = values_from(each.at("x"), panel.x),
                            .y = values_from(each.at("y"), panel.y)});
  return panel;
}

std::string axis_text(const PaperAxis& axis) {
  return text(axis.name, ", ", pretty(axis.low, 4), " to ", pretty(axis.high, 4));
}

}  // namespace

std::vector<PaperPanel> panels_from(const std::string& path, std::string_view content) {
  return read_known(path, content, [](const Json& document) {
    std::vector<PaperPanel> panels;
    for (const Json& each : document.at("panels")) panels.push_back(panel_from(each));
    return panels;
  });
}

std::vector<PaperPanel> read_panels() { return known_beside_page("curves.json", panels_from); }

const PaperPanel* panel_of(const std::vector<PaperPanel>& panels, const std::string& exhibit,
                           const std::string& column, const std::string& facet) {
  const auto found = std::ranges::find_if(panels, [&](const PaperPanel& panel) {
    return panel.exhibit == exhibit && (panel.facet.empty() || panel.facet == facet) &&
           std::ranges::find(panel.curves, column, &PaperCurve::column) != panel.curves.end();
  });
  return found == panels.end() ? nullptr : &*found;
}

std::string source_of(const PaperPanel& panel) {
  return text("Figure ", panel.figure, panel.panel.empty() ? "" : ' ' + panel.panel, ", page ", panel.page,
              "; x: ", axis_text(panel.x), "; y: ", axis_text(panel.y));
}

}  // namespace lamina
