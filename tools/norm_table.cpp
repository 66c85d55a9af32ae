#include "tools/norm_table.h"

#include <algorithm>

#include "core/error.h"

namespace lamina {

namespace {

struct Look {
  std::string_view norm;
  int color;
  std::string_view title = {};  ///< of what is no scheme of its own
};

/// In the order of legends. What no figure shows beside group norm has its colour.
constexpr Look looks[] = {{"bag-of-words", -1, "bag of words"},
                          {"none", 6},
                          {"weight", 2},
                          {"batch", 1},
                          {"batch-everywhere", 3, "batch norm everywhere"},
                          {"rms", 7},
                          {"instance", 4},
                          {"group", 3},
                          {"layer-interior", 5},
                          {"layer", 0}};

const Look* look_of(std::string_view norm) { return std::ranges::find(looks, norm, &Look::norm); }

}  // namespace

Norm norm_from(std::string_view name) {
  if (const auto norm = norm_named(name)) return *norm;
  fail<UsageError>("--norm ", name, ": no such normalization");
}

std::string title_of(std::string_view norm) {
  const Look* const look = look_of(norm);
  if (look != std::end(looks) && !look->title.empty()) return std::string(look->title);
  const auto scheme = norm_named(norm);
  return scheme ? entry_of(*scheme).title : text(norm, " norm");
}

int color_of(std::string_view norm) {
  const Look* const look = look_of(norm);
  return look == std::end(looks) ? -1 : look->color;
}

int rank_of(std::string_view norm) { return static_cast<int>(look_of(norm) - std::begin(looks)); }

}  // namespace lamina
