#pragma once
// The list of all labs.

#include "models/lab/lab.h"

namespace lamina::lab {

/// In the order in which they are listed.
const std::vector<Lab>& labs();

/// UsageError with the names that there are.
const Lab& lab_named(const std::string& name);

}  // namespace lamina::lab
