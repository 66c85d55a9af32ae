#include "tools/results/demonstration.h"

#include <algorithm>

#include "core/error.h"
#include "tools/results/variant_report.h"

namespace lamina {

namespace {

std::string percent(double error) { return formatted("%.1f%%", 100 * error); }

}  // namespace

std::string shown_by(const Demonstrated& one) {
  const Demonstrated::Entry& layer = one.entries.back();
  std::string numbers = layer.title + ' ' + percent(layer.error);
  bool best = true;
  for (const auto& [title, error] : one.entries) {
    if (&error == &layer.error) continue;
    numbers += text(", ", title, ' ', percent(error));
    best = best && layer.error < error;
  }
  return numbers + (best ? ": as the paper says" : ": not as the paper says");
}

std::string demonstration_table(const std::vector<Demonstrated>& all) {
  std::vector<std::string> titles{"variant"};
  for (const Demonstrated& one : all) titles.push_back(one.column);
  std::string rows;
  for (size_t i = 0; i < all.front().entries.size(); ++i) {
    std::vector<std::string> cells{all.front().entries[i].title};
    for (const Demonstrated& one : all) {
      const double error = one.entries[i].error,
                   least = std::ranges::min(one.entries, {}, &Demonstrated::Entry::error).error;
      cells.push_back(error == least ? "**" + percent(error) + "**" : percent(error));
    }
    rows += markdown_row(cells);
  }
  return table_with_head(titles, rows);
}

}  // namespace lamina
