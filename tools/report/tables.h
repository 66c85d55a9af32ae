#pragma once
// The tables of an exhibit: its measures of every trace below the paper's own rows, and the rows of files.

#include <string>
#include <vector>

#include "tools/report/document.h"
#include "tools/report/exhibits.h"
#include "tools/report/traces.h"

namespace lamina {

/// All tables that have a row.
Json tables_of(const Exhibit& exhibit, const std::vector<Trace>& traces, const std::vector<FoundRun>& runs);

/// The place of a name in a list, at whose end a new one is put.
size_t place_of(std::vector<std::string>& names, const std::string& name);

}  // namespace lamina
