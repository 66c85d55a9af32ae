#pragma once
// A study from its first run to its tables, as `lamina study` and --seeds have it.

#include <cstddef>
#include <string>

#include "models/evidence/study/study.h"

namespace lamina {

struct StudyPlan {
  std::string folder;      ///< of the study
  std::size_t jobs = 0;    ///< runs at a time; 0: one per core
  bool single = false;     ///< the figure shows each run
  std::string words = {};  ///< of the command line that goes on with it, behind "lamina"
};

/// UsageError when the folder is a run's: a study's tables and figure would replace those of the run.
void require_no_run(const std::string& folder);

/// Trains what is not finished, or until Ctrl-C, then writes and prints what can be told. Returns the exit code. DataError
/// when the runs in the folder began with other settings, or without this study; UsageError when another process trains there.
int train_study(const Study& study, const StudyPlan& plan);

}  // namespace lamina
