#pragma once
// --seeds N of an experiment's command: the short form of a study, whose variants are those of the command line.

#include <cstddef>
#include <string>
#include <vector>

#include "models/evidence/study/study.h"
#include "models/run/run_folder.h"

namespace lamina {

struct SeedsRequest {
  std::string experiment;  ///< "mnist"
  std::vector<Settings>
      variants;       ///< of each what may tell it apart, as flags without their dashes; one at least
  Settings settings;  ///< flags of all runs
  std::size_t first = 1, seeds = 1;
  int threads = 1;  ///< of each run
};

/// A study without claims. What all variants share becomes a setting, except for the norm, which names the runs.
/// UsageError for more seeds than there are from the first one on.
Study study_of(const SeedsRequest& request);

}  // namespace lamina
