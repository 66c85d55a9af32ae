#include "models/evidence/study/study.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "models/evidence/known_experiments.h"

namespace lamina {

bool Study::best_is_highest(std::string_view metric) const {
  const auto is_in = [=](const std::vector<std::string>& names) {
    return std::ranges::find(names, metric) != names.end();
  };
  const KnownExperiment* const own = find_known_experiment(experiment);
  return is_in(higher) || (own != nullptr && is_in(own->highest));
}

std::vector<std::pair<std::string, std::string>> Study::named_metrics() const {
  std::vector<std::pair<std::string, std::string>> all;
  const auto add = [&](const char* place, const std::string& metric) {
    if (!metric.empty()) all.emplace_back(place, metric);
  };
  for (const auto& [place, list] :
       {std::pair{"metrics", &metrics}, {"log", &log}, {"higher_is_better", &higher}})
    for (const std::string& metric : *list) add(place, metric);
  add("choose", choose);
  if (limit) add("limit", limit->metric);
  for (const auto& [place, list] : {std::pair{"levels", &levels}, {"range", &range}})
    for (const ValuesOf& each : *list) add(place, each.metric);
  for (const Claim& claim : claims) {
    add("claims", claim.metric);
    add("take", claim.take.other);
  }
  return all;
}

std::vector<StudyRun> Study::runs() const {
  std::vector<StudyRun> all;
  for (const std::int64_t seed : seeds)
    for (size_t i = 0; i < combinations.size(); ++i)
      all.push_back({.name = text(combinations[i].name, "-seed", seed), .combination = i, .seed = seed});
  return all;
}

std::vector<std::string> Study::flags_of(const StudyRun& run) const {
  std::vector<std::string> flags;
  for (const Settings* part : {&settings, &combinations[run.combination].settings})
    for (const auto& [name, value] : part->entries()) {
      const auto* on = std::get_if<bool>(&value);
      if (on == nullptr)
        flags.push_back("--" + name + "=" + text_of(value));
      else if (*on)
        flags.push_back("--" + name);
    }
  flags.push_back(text("--seed=", run.seed));
  flags.push_back(text("--threads=", threads));
  return flags;
}

Settings Study::settings_of(const StudyRun& run) const {
  return settings.with(combinations[run.combination].settings);
}

std::vector<size_t> Study::matching(const Settings& wanted) const {
  std::vector<size_t> found;
  for (size_t i = 0; i < combinations.size(); ++i) {
    const auto& own = combinations[i].settings.entries();
    if (std::ranges::all_of(wanted.entries(), [&](const auto& setting) {
          return std::ranges::any_of(own, [&](const auto& each) {
            return each.first == setting.first && text_of(each.second) == text_of(setting.second);
          });
        }))
      found.push_back(i);
  }
  return found;
}

}  // namespace lamina
