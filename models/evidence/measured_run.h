#pragma once
// The runs of a study as they are in its folder: how each ended and what it measured.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/evidence/claim.h"
#include "models/evidence/run_end.h"
#include "models/evidence/study/study.h"
#include "models/run/metrics.h"

namespace lamina {

struct MeasuredRun {
  StudyRun run;
  RunEnd end;
  Table curves = {}, test = {};  ///< metrics.csv and test.csv; without columns where there is none yet
  /// Of record.csv the quantities that the study names, means over the layers. "step" counts the updates that were made, as in
  /// metrics.csv: 0 before the first. What belongs to an update (weight.change) stands where that update begins.
  Table recorded = {};
  std::string data = {};   ///< what it trained on, and what is small about it: one line; empty: unknown
  std::string files = {};  ///< digest of those in --data (DataNote); empty: unknown, or built-in data

  bool has(std::string_view metric) const { return table_with(metric) != nullptr; }
  /// The table that has the metric as a column, or nullptr.
  const Table* table_with(std::string_view metric) const;
  /// A metric's column of metrics.csv or of the record, or the one number of test.csv.
  std::vector<double> values(std::string_view metric) const;
  /// Whether it is a result: it finished or diverged.
  bool ended() const { return end.outcome == RunEnd::finished || end.outcome == RunEnd::diverged; }
};

/// Reads what there is of all runs, of those without a folder what is kept of them (models/evidence/kept_numbers.h).
/// A run with a damaged file counts as failed, for the reason that names the file. DataError for a damaged numbers.json.
std::vector<MeasuredRun> measured_runs(const Study& study, const std::string& folder);

/// The metrics that some run has, in the order of its files.
std::vector<std::string> metrics_of(const std::vector<MeasuredRun>& runs);

/// DataError when the study shows, chooses by or claims something of a metric that none of its runs has. Nothing can be said
/// before the first run has finished.
void require_metrics(const Study& study, const std::vector<MeasuredRun>& runs);

/// DataError when a run finished without a metric that `key` of the study names, which no seed will change.
void require_metric(const Study& study, const MeasuredRun& run, const std::string& metric, const char* key);

/// DataError for a metric that runs measure once, in their test, where a claim or level needs one of metrics.csv: a test is
/// of the model that the run kept, whatever else was best when.
[[noreturn]] void refuse_course(const Study& study, const std::string& metric);

/// What a run's curve says; nothing when it has no such metric or no finite number of it. "where M is best" takes a metric
/// of another file after as many updates, or from the last row before that. DataError where it or M is measured once, and for a
/// mean of more numbers than there are.
std::optional<double> taken(const MeasuredRun& run, const std::string& metric, const Take& take,
                            const Study& study);

/// The updates after which a metric was first as good as `goal`; nothing when it never was. DataError for a metric that is
/// measured once.
std::optional<double> updates_to_reach(const MeasuredRun& run, const std::string& metric, double goal,
                                       const Study& study);

}  // namespace lamina
