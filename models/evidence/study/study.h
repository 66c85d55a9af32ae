#pragma once
// The file of a study: one experiment, what all its runs share, what tells them apart, and the seeds.
//
//   {"question": "Does layer norm help more where batches are small?",
//    "experiment": "mnist",
//    "settings": {"preset": "small", "epochs": 3},
//    "variants": {"norm": ["none", "layer"], "batch": [128, 4]},
//    "seeds": [1, 2, 3, 4, 5]}
//
// is 2 x 2 combinations with five runs each. README.md beside this file says what else there is.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/evidence/claim.h"
#include "models/run/run_folder.h"

namespace lamina {

/// Settings of one variant, which all its runs share, whatever their seed.
struct Combination {
  std::string name;   ///< of folders and in tables: "layer-batch4"
  Settings settings;  ///< what tells it apart: norm and batch

  bool operator==(const Combination&) const = default;
};

/// One run of a study.
struct StudyRun {
  std::string name = {};  ///< of its folder: "layer-batch4-seed1"
  size_t combination = 0;
  std::int64_t seed = 0;
};

/// A run whose last value of the metric is worse than this did not learn.
struct Limit {
  std::string metric;
  double worst = 0;
};

/// Values of a metric, such as 100, 95, 90 and 85 nats.
struct ValuesOf {
  std::string metric;
  std::vector<double> values;
};

struct Study {
  std::string file;  ///< for errors
  std::string question, experiment;
  Settings settings;  ///< of all runs
  std::vector<Combination> combinations;
  std::vector<std::int64_t> seeds;
  int threads = 1;  ///< of each run
  std::vector<Claim> claims;

  // What is shown of the runs.
  std::vector<std::string> metrics;  ///< tables and figure; empty: all that the runs measure
  std::vector<std::string> log;      ///< metrics with a logarithmic axis
  std::vector<std::string> higher;   ///< metrics of which the highest value is the best
  std::string panels;                ///< a setting: a panel for each of its values; empty: all in one
  std::string choose;                ///< metric by which the best of several combinations is chosen
  /// So many of the seeds, the first ones, train every combination, and choose; the others train what the claims compare.
  /// 0: all seeds train and choose.
  size_t choose_seeds = 0;
  std::string against;           ///< a setting with numbers: tables and figure show the ends against it
  std::optional<Limit> limit;    ///< what has become of a run that failed to learn
  std::vector<ValuesOf> levels;  ///< a table says when each variant comes to them
  std::vector<ValuesOf> range;   ///< the ends of the metric's axis in figures
  /// Whether the study lists it as `higher`, or its experiment does (models/evidence/known_experiments.h). Of all else the
  /// lowest value is the best.
  bool best_is_highest(std::string_view metric) const;
  /// Every metric that is shown, chosen by or claimed, behind the key that names it: {"choose", "valid_error"}.
  std::vector<std::pair<std::string, std::string>> named_metrics() const;

  /// Every combination with every seed, the first seed of all combinations first: what is done early can be compared.
  std::vector<StudyRun> runs() const;
  /// The words of the command line behind `lamina EXPERIMENT`, without the run's folder: "--norm=layer", ...
  std::vector<std::string> flags_of(const StudyRun& run) const;
  /// What its settings are besides the seed: those of all runs and those of its combination.
  Settings settings_of(const StudyRun& run) const;
  /// The combinations that have all these settings.
  std::vector<size_t> matching(const Settings& wanted) const;
};

/// Reads a study's file. DataError with its name and the remedy for what is no JSON, an unknown, missing or double key,
/// an empty list, a value of the wrong kind, and combinations that are the same.
Study read_study(const std::string& path);
/// The same for the file's content.
Study study_from(const std::string& path, std::string_view content);

/// DataError where the study names a metric that no run of its experiment has and that cannot be recorded either, where it
/// chooses by one of the test set, and where a claim needs the course of one that is measured once, in the test.
void require_metrics_of_experiment(const Study& study);

/// What of a study must stay as it is while its runs are used, and the scalar type of this program, in which they are
/// trained: kept in its folder as study.json.
std::string kept_of(const Study& study, size_t smoke);

/// Whether runs may become longer (models/run/length.h), which those can whose folders are there.
enum class Lengths { as_kept, may_grow };

/// The content of study.json after `study` has been added to what was kept. DataError when runs that were kept would
/// have other settings now, or are of the other scalar type; without `smoke`, to look at them, that and the type may be any.
std::string merged_with_kept(const Study& study, std::optional<size_t> smoke, const std::string& kept_file,
                             const std::string& kept, Lengths lengths = Lengths::as_kept);

/// Whether runs that were kept are to become longer, of two contents of study.json.
bool became_longer(const std::string& before, const std::string& now);

}  // namespace lamina
