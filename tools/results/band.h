#pragma once
// Many runs as one curve: the median with the range of all as a band.

#include <string_view>
#include <vector>

#include "models/run/metrics.h"
#include "tools/results/plot.h"

namespace lamina {

/// Runs that diverged, and what their numbers would be from there on.
struct Diverged {
  std::vector<bool> runs = {};  ///< as many as tables; empty: none
  bool as_lowest = false;       ///< the worst: lowest where the highest is the best
};

/// The median of column `y` of all tables against column `x`, at every x that one of them has: of those that have a
/// finite value there. A run that diverged counts behind its last row as the worst, as it does in a study's variants.csv;
/// where half of the runs have, there is no point. The band reaches from the lowest of the values to the highest; of one
/// table there is none. `curve` gives title, line and colour.
Curve median_curve(const std::vector<Table>& tables, std::string_view x, std::string_view y, Curve curve,
                   const Diverged& diverged = {});

}  // namespace lamina
