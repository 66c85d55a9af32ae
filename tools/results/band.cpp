#include "tools/results/band.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "models/evidence/interval.h"

namespace lamina {

namespace {
constexpr double infinite = std::numeric_limits<double>::infinity();
}

Curve median_curve(const std::vector<Table>& tables, std::string_view x, std::string_view y, Curve curve,
                   const Diverged& diverged) {
  std::map<double, std::vector<double>> values;  // at each x
  std::vector<double> ends;                      // of the runs that diverged
  for (size_t run = 0; run < tables.size(); ++run) {
    const std::vector<double> at = tables[run].column(x), value = tables[run].column(y);
    for (size_t i = 0; i < at.size(); ++i)
      if (std::isfinite(at[i]) && std::isfinite(value[i])) values[at[i]].push_back(value[i]);
    if (!diverged.runs.empty() && diverged.runs[run]) ends.push_back(at.empty() ? -infinite : at.back());
  }
  for (const auto& [at, all] : values) {
    std::vector<double> with_lost = all;
    for (const double end : ends)
      if (end < at) with_lost.push_back(diverged.as_lowest ? -infinite : infinite);
    const double median = median_of(with_lost);
    if (!std::isfinite(median)) continue;
    curve.x.push_back(at);
    curve.y.push_back(median);
    if (tables.size() < 2) continue;
    const auto [low, high] = std::ranges::minmax(all);
    curve.low.push_back(low);
    curve.high.push_back(high);
  }
  return curve;
}

}  // namespace lamina
