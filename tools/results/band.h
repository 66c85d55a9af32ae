#pragma once
// Many runs as one curve: the median with the range of all as a band.

#include <string_view>
#include <vector>

#include "models/run/metrics.h"
#include "tools/results/plot.h"

namespace lamina {

/// The median of column `y` of all tables against column `x`, at every x that one of them has: of those that have a
/// finite value there. The band reaches from the lowest of them to the highest; of one table there is none. `curve` gives
/// title, line and colour.
Curve median_curve(const std::vector<Table>& tables, std::string_view x, std::string_view y, Curve curve);

/// Each of the tables as a pale line of the curve's colour, without a title.
std::vector<Curve> single_curves(const std::vector<Table>& tables, std::string_view x, std::string_view y,
                                 const Curve& curve);

}  // namespace lamina
