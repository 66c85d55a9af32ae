#include "models/evidence/claim.h"

#include "core/error.h"

namespace lamina {

Take Take::from(const std::string& words) {
  constexpr std::string_view mean = "mean of last ", where = "where ", is_best = " is best";
  if (words == "last") return {};
  if (words == "best") return {.kind = Kind::best};
  if (words.starts_with(mean)) {
    const auto count = number_from<std::int64_t>(std::string_view(words).substr(mean.size()));
    if (count && *count > 0) return {.kind = Kind::mean_of_last, .count = static_cast<size_t>(*count)};
  }
  if (words.starts_with(where) && words.ends_with(is_best) && words.size() > where.size() + is_best.size())
    return {.kind = Kind::where_best,
            .other = words.substr(where.size(), words.size() - where.size() - is_best.size())};
  fail("'", words, "' says nothing about a curve; write last, best, mean of last 5, or where METRIC is best");
}

std::string Take::words() const {
  switch (kind) {
    case Kind::last:
      return "last";
    case Kind::best:
      return "best";
    case Kind::mean_of_last:
      return text("mean of last ", count);
    case Kind::where_best:
      return "where " + other + " is best";
  }
  return {};
}

}  // namespace lamina
