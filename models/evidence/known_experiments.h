#pragma once
// What is known of each experiment that trains, in one table: how long it takes, what it measures, and which value of a metric
// is the best. A study that names another metric is refused before it trains for hours.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lamina {

/// An experiment with other flags, "--norm none,layer", and its seconds.
struct ExampleTime {
  std::string_view flags;
  double seconds;
};

/// Seconds are those of the processor, with LAMINA_THREADS=1; of long commands extrapolated from 12 s or more, beside other
/// work. Metrics are columns of its runs, as models/run/FILES.md has them, also those that only some settings have. No member
/// has a default, so that the compiler asks for each.
struct KnownExperiment {
  std::string_view name;               ///< of its command: "mnist"
  double seconds;                      ///< without flags: built-in data, the small preset
  std::optional<ExampleTime> example;  ///< that its --help shows; {} where it was not measured
  std::vector<std::string> curves;     ///< metrics of metrics.csv
  std::vector<std::string> test;       ///< those of test.csv; {} where it writes none
  std::vector<std::string>
      highest;  ///< of both those of which the highest value is the best; of all others the lowest is
};

const std::vector<KnownExperiment>& known_experiments();
/// Nothing for what is no experiment.
const KnownExperiment* find_known_experiment(std::string_view name);

}  // namespace lamina
