#pragma once
// Trains the runs of a study, several at a time, each in a process of its own.
//
// What is finished has its outcome.json (models/evidence/run_end.h), or where its folder is gone its numbers in the
// study's numbers.json, and is never trained again. What was interrupted, however, goes on from its last checkpoint. So
// the queue keeps nothing of its own: killed at any moment, the next session finds everything in the study's folder. A run
// with a damaged file has failed, and its folder is left as it is.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "models/evidence/run_end.h"
#include "models/evidence/study/study.h"
#include "tools/programs/child_process.h"
#include "tools/study/status_line.h"

namespace lamina {

/// The environment variable that the queue sets for its runs, each of which is to be one variant.
inline constexpr const char* of_study = "LAMINA_OF_STUDY";

struct QueueOptions {
  std::string folder;    ///< of the study
  std::size_t jobs = 1;  ///< runs at a time at most
};

class StudyQueue {
 public:
  /// `runs` of the study.
  StudyQueue(const Study& study, const std::vector<StudyRun>& runs, const QueueOptions& options);

  /// Trains until all runs have ended, or until Ctrl-C, which saves all that are at work. Returns whether all ended.
  /// DataError, and all are saved, when a run reads other files than another, or when one run of each variant shows that the
  /// study names what they do not measure.
  bool train();

  std::size_t failed() const;

 private:
  struct Run {
    StudyRun run;
    std::string folder;
    RunEnd how;
    std::unique_ptr<ChildProcess> child = {};
    bool awaited = false;   ///< it was said that its folder is locked
    bool compared = false;  ///< the files that it reads were, with those of the others
    std::size_t ends_by_signal = 0;
    double share = 0, seconds = 0;  ///< of its training done, and the time it took
  };

  void start_some();
  bool may_start(const Run& next) const;
  void start(Run& run);
  void look_at_children();
  static void look_at(Run& run);
  void end(Run& run);
  void compare_data(Run& run) const;
  void require_what_is_named();
  void stop_all();
  void show();

  std::vector<const Run*> at_work() const;
  std::size_t count(RunEnd::Outcome outcome) const;
  std::size_t peak_of(std::size_t combination) const;
  double seconds_left() const;
  std::string totals() const;

  const Study& study_;
  QueueOptions options_;
  std::vector<Run> runs_;
  std::size_t kept_ = 0;  ///< of them in numbers.json alone
  StatusLine status_;
  std::size_t looks_ = 0;
  bool required_ = false;
};

}  // namespace lamina
