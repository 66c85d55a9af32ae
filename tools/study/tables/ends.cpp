#include "tools/study/tables/ends.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "models/evidence/choice.h"
#include "models/evidence/interval.h"
#include "tools/study/tables/variant_look.h"

namespace lamina {

namespace {

bool failed(const Study& study, const MeasuredRun& run) {
  if (run.end.outcome == RunEnd::diverged) return true;
  if (!study.limit) return false;
  require_metric(study, run, study.limit->metric, "limit");
  const auto value = taken(run, study.limit->metric, {}, study);
  return !value || (study.best_is_highest(study.limit->metric) ? *value < study.limit->worst
                                                               : *value > study.limit->worst);
}

}  // namespace

double Ends::median_of_all(bool best_is_highest) const {
  const double worst = std::numeric_limits<double>::infinity();
  std::vector<double> all = values;
  all.resize(runs, best_is_highest ? -worst : worst);
  return median_of(all);
}

Ends ends_of(const Study& study, const std::vector<MeasuredRun>& runs, const std::string& metric,
             size_t combination) {
  Ends ends;
  for (const MeasuredRun* run : ended_runs(runs, combination)) {
    ++ends.runs;
    if (failed(study, *run)) ++ends.failed;
    const auto value = taken(*run, metric, {}, study);
    if (value && run->end.outcome == RunEnd::finished) ends.values.push_back(*value);
  }
  return ends;
}

std::vector<std::string> varied(const Study& study) {
  std::vector<std::string> keys;
  for (const Combination& each : study.combinations)
    for (const auto& [key, value] : each.settings.entries())
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
  return keys;
}

std::string variants_csv(const Study& study, const std::vector<MeasuredRun>& runs,
                         const std::vector<std::string>& metrics) {
  const std::vector<std::string> keys = varied(study);
  std::vector<std::string> header = keys;
  for (const char* const column : {"runs", "failed"}) header.emplace_back(column);
  for (const std::string& metric : metrics)
    for (const char* const end : {"", "_low", "_high"}) header.push_back(metric + end);
  std::string all = joined(header) + '\n';
  for (size_t i = 0; i < study.combinations.size(); ++i) {
    std::vector<std::string> row;
    row.reserve(header.size());
    for (const std::string& key : keys) row.push_back(field_of(study.combinations[i].settings.word(key)));
    const Ends any = ends_of(study, runs, metrics.empty() ? "" : metrics.front(), i);
    row.push_back(text(any.runs));
    row.push_back(text(any.failed));
    for (const std::string& metric : metrics) {
      const Ends ends = ends_of(study, runs, metric, i);
      const bool empty = ends.values.empty();
      const double median = ends.median_of_all(study.best_is_highest(metric));
      row.push_back(number_text(std::isfinite(median) ? median : std::nan("")));
      row.push_back(number_text(empty ? std::nan("") : std::ranges::min(ends.values)));
      row.push_back(number_text(empty ? std::nan("") : std::ranges::max(ends.values)));
    }
    all += joined(row) + '\n';
  }
  return all;
}

}  // namespace lamina
