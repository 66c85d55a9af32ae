#pragma once
// How the runs of a variant ended.

#include <string>
#include <vector>

#include "models/evidence/measured_run.h"
#include "models/evidence/study/study.h"

namespace lamina {

/// The last values of a combination's runs that finished, and how many of all failed: diverged, or ended worse than the
/// study's limit.
struct Ends {
  std::vector<double> values = {};
  size_t runs = 0, failed = 0;

  /// The median of all runs, of which one without a number counts as the worst, as it does where one is chosen
  /// (models/evidence/choice.h). Not finite where half of the runs have none.
  double median_of_all(bool best_is_highest) const;
};
Ends ends_of(const Study& study, const std::vector<MeasuredRun>& runs, const std::string& metric,
             size_t combination);

/// The keys of all variants' settings, in the order in which they come.
std::vector<std::string> varied(const Study& study);

/// A row for each variant: its settings, how many runs ended and how many of them failed; of each metric the median
/// of the last values of all, nan where that is not finite, and the range of those that there are.
std::string variants_csv(const Study& study, const std::vector<MeasuredRun>& runs,
                         const std::vector<std::string>& metrics);

}  // namespace lamina
