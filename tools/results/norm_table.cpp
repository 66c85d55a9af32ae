#include "tools/results/norm_table.h"

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "layers/attention/transformer_block.h"

namespace lamina {

namespace {

struct Look {
  std::string_view norm;
  const char* title;
  int color;
};

/// The norms as they are in their table, and between them, in the order of legends, what is no scheme of its own.
/// What no figure shows beside group norm has its colour.
std::vector<Look> all_looks() {
  std::vector<Look> all{{"bag-of-words", "bag of words", -1}};
  for (const PlacementEntry& entry : placement_table) all.push_back({entry.name, entry.title, -1});
  for (const NormEntry& entry : norm_table) {
    all.push_back({entry.name, entry.title, entry.color});
    if (entry.norm == Norm::batch)
      all.push_back({"batch-everywhere", "batch norm everywhere", entry_of(Norm::group).color});
  }
  return all;
}

const std::vector<Look> looks = all_looks();

auto look_of(std::string_view norm) { return std::ranges::find(looks, norm, &Look::norm); }

}  // namespace

Norm norm_from(std::string_view name) {
  if (const auto norm = norm_named(name)) return *norm;
  fail<UsageError>("--norm ", name, ": no such normalization");
}

std::string title_of(std::string_view norm) {
  const auto look = look_of(norm);
  return look == looks.end() ? text(norm, " norm") : look->title;
}

int color_of(std::string_view norm) {
  const auto look = look_of(norm);
  return look == looks.end() ? -1 : look->color;
}

int rank_of(std::string_view norm) { return static_cast<int>(look_of(norm) - looks.begin()); }

}  // namespace lamina
