#include "models/skip_thoughts/evaluation/scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"

namespace lamina::skip_thoughts {

namespace {

void require_pairs(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size() || a.empty())
    fail("score: of ", a.size(), " numbers and ", b.size(), "; as many as there are pairs are needed");
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

bool is_constant(std::span<const double> values) {
  return std::ranges::all_of(values, [&](double value) { return value == values[0]; });
}

}  // namespace

double pearson(std::span<const double> a, std::span<const double> b) {
  require_pairs(a, b);
  // The mean of equal numbers may be another one in the last place, and would leave deviations.
  if (is_constant(a) || is_constant(b)) return std::numeric_limits<double>::quiet_NaN();
  const double mean_a = mean_of(a), mean_b = mean_of(b);
  double both = 0, of_a = 0, of_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    both += (a[i] - mean_a) * (b[i] - mean_b);
    of_a += (a[i] - mean_a) * (a[i] - mean_a);
    of_b += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return both / std::sqrt(of_a * of_b);
}

size_t place_of_largest(std::span<const double> values) {
  const auto below = [](double a, double b) { return a < b || (std::isnan(a) && !std::isnan(b)); };
  return static_cast<size_t>(std::ranges::max_element(values, below) - values.begin());
}

std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<size_t> order;  // of the numbers: NaN has no place in it
  for (size_t i = 0; i < values.size(); ++i)
    if (!std::isnan(values[i])) order.push_back(i);
  std::ranges::sort(order, {}, [&](size_t i) { return values[i]; });
  std::vector<double> ranks(values.size(), std::numeric_limits<double>::quiet_NaN());
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + 1 + end) / 2;
  }
  return ranks;
}

double spearman(std::span<const double> a, std::span<const double> b) {
  require_pairs(a, b);
  return pearson(ranks_of(a), ranks_of(b));
}

double mean_squared_error(std::span<const double> a, std::span<const double> b) {
  require_pairs(a, b);
  double total = 0;
  for (size_t i = 0; i < a.size(); ++i) total += (a[i] - b[i]) * (a[i] - b[i]);
  return total / static_cast<double>(a.size());
}

}  // namespace lamina::skip_thoughts
