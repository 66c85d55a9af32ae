#include "tools/results/norm_table.h"

#include <algorithm>

#include "core/error.h"
#include "layers/attention/transformer_block.h"
#include "tools/results/palette.h"

namespace lamina {

namespace {

/// The norms as they are in their table, and between them, in the order of legends, what is no scheme of its own.
std::vector<Look> all_looks() {
  std::vector<Look> all{{"bag-of-words", "bag of words", plain_color(7)}};
  size_t plain = 1;
  for (const PlacementEntry& entry : placement_table)
    all.push_back({entry.name, entry.title, plain_color(plain++)});
  for (const NormEntry& entry : norm_table) {
    all.push_back({entry.name, entry.title, entry.color});
    if (entry.norm == Norm::batch)
      all.push_back({"batch-everywhere", "batch norm everywhere", plain_color(6)});
  }
  return all;
}

auto look_of(std::string_view norm) { return std::ranges::find(looks(), norm, &Look::norm); }

}  // namespace

const std::vector<Look>& looks() {
  static const std::vector<Look> all = all_looks();
  return all;
}

Norm norm_from(std::string_view name) {
  if (const auto norm = norm_named(name)) return *norm;
  fail<UsageError>("--norm ", name, ": no such normalization");
}

std::string title_of(std::string_view norm) {
  const auto look = look_of(norm);
  return look == looks().end() ? text(norm, " norm") : look->title;
}

int color_of(std::string_view norm) {
  const auto look = look_of(norm);
  return look == looks().end() ? -1 : look->color;
}

int rank_of(std::string_view norm) { return static_cast<int>(look_of(norm) - looks().begin()); }

}  // namespace lamina
