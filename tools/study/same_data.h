#pragma once
// The runs of a study read the same files.

#include <string>

#include "models/evidence/study/study.h"

namespace lamina {

/// Files in --data that changed meanwhile would make two samples of the runs of one variant, and compare variants on
/// different data: DataError with two runs that began with different ones. Of runs whose folders are gone numbers.json says
/// what they read.
void require_same_data(const Study& study, const std::string& folder);

}  // namespace lamina
