#include "tools/norm_table.h"

#include <algorithm>

#include "core/error.h"

namespace lamina {

namespace {

struct Look {
  std::string_view norm, title;
  int color;
};

/// In the order of legends. What no figure shows beside group norm has its colour.
constexpr Look looks[] = {{"bag-of-words", "bag of words", -1},
                          {"none", "baseline", 6},
                          {"weight", "weight norm", 2},
                          {"batch", "batch norm", 1},
                          {"batch-everywhere", "batch norm everywhere", 3},
                          {"rms", "rms norm", 7},
                          {"instance", "instance norm", 4},
                          {"group", "group norm", 3},
                          {"layer-interior", "layer norm, interior", 5},
                          {"layer", "layer norm", 0}};

const Look* look_of(std::string_view norm) { return std::ranges::find(looks, norm, &Look::norm); }

}  // namespace

Norm norm_from(std::string_view name) {
  for (const Norm norm : {Norm::none, Norm::batch, Norm::layer, Norm::weight, Norm::rms, Norm::group,
                          Norm::instance, Norm::layer_interior})
    if (name == name_of(norm)) return norm;
  fail<UsageError>("--norm ", name, ": no such normalization");
}

std::string title_of(std::string_view norm) {
  const Look* const look = look_of(norm);
  return look == std::end(looks) ? text(norm, " norm") : std::string(look->title);
}

int color_of(std::string_view norm) {
  const Look* const look = look_of(norm);
  return look == std::end(looks) ? -1 : look->color;
}

int rank_of(std::string_view norm) { return static_cast<int>(look_of(norm) - std::begin(looks)); }

}  // namespace lamina
