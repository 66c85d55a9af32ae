#pragma once
// Commands whose variants are normalizations and batch sizes: each chosen one of the former is trained with
// each of the latter.

#include <functional>
#include <string>
#include <vector>

#include "models/common/metrics.h"
#include "tools/common_flags.h"
#include "tools/training_runs.h"

namespace lamina {

/// One of the runs that a call of a command makes.
struct Variant {
  std::string norm;
  std::int64_t batch;
  std::string name() const { return text(norm, "-b", batch); }
};
std::vector<Variant> variants_of(const CommonFlags& flags);

/// What a command does once its data are there.
struct Prepared {
  std::string source;     ///< one line: what the data are
  size_t training_cases;  ///< no batch may be larger
  /// Trains one variant in its folder, from where it was; `label` is for the progress line.
  std::function<Outcome(const RunFolder& folder, const Variant& variant, const std::string& label)> train;
};

struct VariantCommand {
  std::string name;  ///< "mnist", as on the command line
  std::int64_t paper_epochs = 60, small_epochs = 5;
  std::int64_t batch = 128;     ///< where --batch is not given
  double learning_rate = 1e-3;  ///< where --lr is not given
  /// May still write into flags.own what config.json shall keep; when a run is resumed, it is there.
  std::function<Prepared(CommonFlags& flags)> prepare;
  /// A markdown table, one row a variant, from the metrics of each.
  std::function<std::string(const std::vector<Variant>&, const std::vector<Table>&)> summary;
  std::function<std::vector<Panel>(const std::vector<Variant>&, const std::vector<Table>&)> figure;
};

/// Trains, prints and saves a summary and draws the figure. Returns the exit code.
int run_variants(const VariantCommand& command, CommonFlags flags);

}  // namespace lamina
