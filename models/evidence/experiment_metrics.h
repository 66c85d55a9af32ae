#pragma once
// What each experiment measures: a study that names something else is refused before it trains for hours, and which value of
// a metric is the best stands here alone.

#include <string>
#include <string_view>
#include <vector>

namespace lamina {

struct Study;

/// Columns of an experiment's runs, as models/run/FILES.md has them, also those that only some settings have. No member has a
/// default, so that the compiler asks for each.
struct ExperimentMetrics {
  std::string_view experiment;
  std::vector<std::string> curves;  ///< of metrics.csv
  std::vector<std::string> test;    ///< of test.csv; {} where it writes none
  std::vector<std::string>
      highest;  ///< of both those of which the highest value is the best; of all others the lowest is
};

const std::vector<ExperimentMetrics>& experiment_metrics();
/// Nothing for what is no experiment.
const ExperimentMetrics* metrics_of_experiment(std::string_view name);

/// DataError where the study names a metric that no run of its experiment has and that cannot be recorded either, where it
/// chooses by one of the test set, and where a claim needs the course of one that is measured once, in the test.
void require_metrics_of_experiment(const Study& study);

}  // namespace lamina
