#include "tools/results/band.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "models/evidence/interval.h"

namespace lamina {

Curve median_curve(const std::vector<Table>& tables, std::string_view x, std::string_view y, Curve curve) {
  std::map<double, std::vector<double>> values;  // at each x
  for (const Table& table : tables) {
    const std::vector<double> at = table.column(x), value = table.column(y);
    for (size_t i = 0; i < at.size(); ++i)
      if (std::isfinite(at[i]) && std::isfinite(value[i])) values[at[i]].push_back(value[i]);
  }
  for (const auto& [at, all] : values) {
    curve.x.push_back(at);
    curve.y.push_back(median_of(all));
    if (tables.size() < 2) continue;
    const auto [low, high] = std::ranges::minmax(all);
    curve.low.push_back(low);
    curve.high.push_back(high);
  }
  return curve;
}

std::vector<Curve> single_curves(const std::vector<Table>& tables, std::string_view x, std::string_view y,
                                 const Curve& curve) {
  std::vector<Curve> all;
  all.reserve(tables.size());
  for (const Table& table : tables)
    all.push_back({.x = table.column(x), .y = table.column(y), .color = curve.color, .pale = true});
  return all;
}

}  // namespace lamina
