#include "tools/report/measures.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "models/evidence/interval.h"
#include "tools/report/document.h"

namespace lamina {

namespace {

/// What a measure picks from a column of one run; NaN when there is nothing to pick from, or the run diverged.
double picked_of_one(const Trace& trace, const Measure& measure) {
  if (trace.run->diverged) return NAN;
  const std::vector<double> values = trace.column(measure.column), xs = trace.column(measure.x);
  std::vector<size_t> known;
  for (size_t i = 0; i < values.size(); ++i)
    if (std::isfinite(values[i])) known.push_back(i);
  if (known.empty()) return NAN;
  const auto value_at = [&](size_t i) { return values[i]; };
  const size_t lowest = *std::ranges::min_element(known, {}, value_at),
               highest = *std::ranges::max_element(known, {}, value_at);
  const auto x_at = [&](size_t i) { return xs.empty() ? NAN : xs[i]; };
  switch (measure.pick) {
    case Pick::first:
      return values.front();
    case Pick::last:
      return values.back();
    case Pick::lowest:
      return values[lowest];
    case Pick::highest:
      return values[highest];
    case Pick::where_lowest:
      return x_at(lowest);
    case Pick::where_highest:
      return x_at(highest);
  }
  return NAN;
}

/// A seed that is not where the others have ended is none of them yet.
bool is_under_way(const Trace& single) {
  return !single.run->diverged && !unfinished(*single.run, *single.csv).empty();
}

}  // namespace

std::vector<double> picks(const Trace& trace, const Measure& measure) {
  const std::vector<Trace> singles = trace.singles();
  const bool some_have_ended = !std::ranges::all_of(singles, is_under_way);
  std::vector<double> values;
  for (const Trace& single : singles)
    if (const double value = picked_of_one(single, measure);
        std::isfinite(value) && !(some_have_ended && is_under_way(single)))
      values.push_back(measure.scale * value);
  return values;
}

std::string measured(const Trace& trace, const Measure& measure) {
  const std::vector<double> values = picks(trace, measure);
  const std::vector<Trace> singles = trace.singles();
  const auto diverged =
      std::ranges::count_if(singles, [](const Trace& single) { return single.run->diverged.has_value(); });
  if (values.empty() && diverged > 0)
    return singles.size() == 1 ? "diverged" : text(diverged, " of ", singles.size(), " diverged");
  if (values.empty()) return pretty(NAN, measure.digits);
  const auto number = [&](double value) { return pretty(value, measure.digits); };
  const auto [low, high] = std::ranges::minmax(values);
  std::string cell = number(median_of(values));
  if (low != high) cell += text(" (", number(low), " to ", number(high), ')');
  if (values.size() < singles.size()) cell += text(", ", values.size(), " of ", singles.size());
  if (diverged > 0) cell += text(", ", diverged, " diverged");
  const auto under_way = std::ranges::count_if(singles, is_under_way);
  if (under_way > 0 && under_way < std::ssize(singles)) cell += text(", ", under_way, " unfinished");
  return cell;
}

}  // namespace lamina
