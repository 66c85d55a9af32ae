#pragma once
// The numbers of a table: what an exhibit's measures pick from a trace.

#include <string>
#include <vector>

#include "tools/report/exhibits/exhibits.h"
#include "tools/report/found/traces.h"

namespace lamina {

/// What a measure picks from each seed that has it, in the measure's unit. A run that diverged has no number.
std::vector<double> picks(const Trace& trace, const Measure& measure);

/// As a cell: "1.44"; of several seeds the median and the range, "1.44 (1.21 to 1.5)", and how many have it where not all
/// do, ", 4 of 5"; "–" for none. How many diverged stands behind it.
std::string measured(const Trace& trace, const Measure& measure);

}  // namespace lamina
