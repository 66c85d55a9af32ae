#pragma once
// Normalizations as figures, tables and the report show them, and the few other things that stand in their place:
// "batch-everywhere", "bag-of-words", and the placements of a Transformer's norms, "pre".

#include <string>
#include <string_view>
#include <vector>

#include "layers/norms/norm.h"

namespace lamina {

/// The scheme of a value of --norm. UsageError where there is none.
Norm norm_from(std::string_view name);

/// In legends: "baseline", "layer norm".
std::string title_of(std::string_view norm);

struct Look {
  std::string_view norm;
  const char* title;  ///< in legends: "baseline", "layer norm"
  int color;          ///< in the palette (palette.h), the same in every figure and in the report
};

/// All of them, the baseline first, layer norm last.
const std::vector<Look>& looks();

/// The colour of the one with this name; -1 for what has none.
int color_of(std::string_view norm);

/// Whether --sync-batch-norm says where a norm takes its statistics. Batch norm's variants have parts or averages of their own.
constexpr bool has_shared_statistics(std::string_view norm) {
  return norm == "batch" || norm == "batch-everywhere";
}

/// The place in legends and tables: the baseline first, layer norm last.
int rank_of(std::string_view norm);

}  // namespace lamina
