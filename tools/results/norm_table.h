#pragma once
// Normalizations as figures, tables and the report show them, and the few other things that stand in their place:
// "batch-everywhere", "bag-of-words", and the placements of a Transformer's norms, "pre".

#include <string>
#include <string_view>

#include "layers/norms/norm.h"

namespace lamina {

/// The scheme of a value of --norm. UsageError where there is none.
Norm norm_from(std::string_view name);

/// In legends: "baseline", "layer norm".
std::string title_of(std::string_view norm);

/// A number in the palette of plot.h, the same in every figure and in the report; -1 for what has none.
int color_of(std::string_view norm);

/// The place in legends and tables: the baseline first, layer norm last.
int rank_of(std::string_view norm);

}  // namespace lamina
