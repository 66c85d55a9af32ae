#include "models/evidence/choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>

#include "models/evidence/interval.h"

namespace lamina {

namespace {

/// The seeds that train every combination.
std::span<const std::int64_t> choosing_seeds(const Study& study) {
  return std::span(study.seeds).first(study.choose_seeds > 0 ? study.choose_seeds : study.seeds.size());
}

bool chooses(const Study& study, const StudyRun& run) {
  return std::ranges::find(choosing_seeds(study), run.seed) != choosing_seeds(study).end();
}

}  // namespace

std::vector<const MeasuredRun*> ended_runs(const std::vector<MeasuredRun>& runs, size_t combination) {
  std::vector<const MeasuredRun*> all;
  for (const MeasuredRun& run : runs)
    if (run.run.combination == combination && run.ended()) all.push_back(&run);
  return all;
}

bool is_less(double median, double other) {
  constexpr double rounding = 1e-12;
  return median < other - rounding * std::fabs(median);
}

size_t chosen_of(const std::vector<size_t>& several, const Study& study,
                 const std::vector<MeasuredRun>& runs) {
  const double sign = study.best_is_highest(study.choose) ? -1 : 1;
  size_t best = several.front();
  double lowest = std::numeric_limits<double>::infinity();
  for (const size_t combination : several) {
    std::vector<double> values;
    for (const MeasuredRun* run : ended_runs(runs, combination)) {
      if (!chooses(study, run->run)) continue;
      if (several.size() > 1) require_metric(study, *run, study.choose, "choose");
      const auto value = taken(*run, study.choose, {.kind = Take::Kind::best}, study);
      values.push_back(run->end.outcome == RunEnd::finished && value
                           ? sign * *value
                           : std::numeric_limits<double>::infinity());
    }
    if (const double median = median_of(values); is_less(median, lowest)) {
      lowest = median;
      best = combination;
    }
  }
  return best;
}

std::vector<size_t> compared_by_claims(const Study& study, const std::vector<MeasuredRun>& runs) {
  std::set<size_t> all;
  for (const Claim& claim : study.claims)
    for (const Settings* side : {&claim.subject, &claim.other})
      all.insert(chosen_of(study.matching(*side), study, runs));
  return {all.begin(), all.end()};
}

bool has_chosen(const Study& study, const std::vector<MeasuredRun>& runs) {
  return std::ranges::all_of(runs,
                             [&](const MeasuredRun& run) { return run.ended() || !chooses(study, run.run); });
}

std::vector<StudyRun> runs_to_train(const Study& study, const std::vector<MeasuredRun>& runs) {
  const std::vector<size_t> compared =
      has_chosen(study, runs) ? compared_by_claims(study, runs) : std::vector<size_t>();
  std::vector<StudyRun> all;
  for (const StudyRun& run : study.runs())
    if (chooses(study, run) || std::ranges::find(compared, run.combination) != compared.end())
      all.push_back(run);
  return all;
}

std::vector<MeasuredRun> without_unwanted(const Study& study, std::vector<MeasuredRun> runs) {
  std::set<std::string> wanted;
  for (const StudyRun& run : runs_to_train(study, runs)) wanted.insert(run.name);
  std::erase_if(runs, [&](const MeasuredRun& run) {
    return run.end.outcome == RunEnd::waiting && !wanted.contains(run.run.name);
  });
  return runs;
}

}  // namespace lamina
