#include "tools/flags/suggestion.h"

#include <algorithm>
#include <utility>

namespace lamina {

size_t typing_distance(std::string_view a, std::string_view b) {
  // Rows i - 2, i - 1 and i of the table of distances between the first i letters of a and the first j of b.
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, last);
    std::swap(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates)
    if (const size_t distance = typing_distance(word, candidate); distance < least) {
      least = distance;
      best = candidate;
    }
  return best.empty() ? "" : "; did you mean " + best + '?';
}

}  // namespace lamina
