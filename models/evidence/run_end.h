#pragma once
// How a run of a study ended: outcome.json in its folder. A run without one is still to be trained, or is being trained.

#include <cstddef>
#include <string>

namespace lamina {

struct RunEnd {
  /// `diverged` is a result: the loss or the model was not finite. What `failed` is tried again by the next session.
  enum Outcome { waiting, finished, diverged, failed };
  Outcome outcome = waiting;
  std::string reason = {};     ///< of a run that diverged or failed: one line
  std::string data = {};       ///< what it was trained on: one line
  std::size_t peak_bytes = 0;  ///< the most memory that it held; 0: unknown
  std::size_t rows = 0;        ///< of its metrics.csv, where it finished; 0: unknown
  bool damaged = false;        ///< it failed because one of its files is damaged; not in outcome.json
};

/// "finished".
std::string name_of(RunEnd::Outcome outcome);
/// Error for a name that is none of a run that has ended.
RunEnd::Outcome outcome_named(const std::string& name);

/// Of a run's folder; DataError when the file is there and damaged.
RunEnd read_end(const std::string& folder);
void write_end(const std::string& folder, const RunEnd& end);
/// Of a run that goes on for longer.
void remove_end(const std::string& folder);

}  // namespace lamina
