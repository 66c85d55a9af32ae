// Experiments in the report that have no exhibit written by hand: one is made of what is known of each.

#include <algorithm>
#include <cctype>

#include "core/error.h"
#include "models/evidence/known_experiments.h"
#include "tools/report/exhibits/exhibits.h"

namespace lamina {

namespace {

/// "Word order" for "word-order".
std::string title_from(std::string name) {
  std::ranges::replace(name, '-', ' ');
  name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return name;
}

std::string readme_of(std::string name) {
  std::ranges::replace(name, '-', '_');
  return "models/" + name + "/README.md";
}

bool shows_runs_of(const Exhibit& exhibit, std::string_view experiment) {
  return exhibit.experiment == experiment && exhibit.study.empty();
}

}  // namespace

Exhibit exhibit_of(const KnownExperiment& experiment) {
  const std::string name(experiment.name);
  Exhibit exhibit{.part = later_part,
                  .id = "experiment-" + name,
                  .title = title_from(name),
                  .subject = text("What lamina ", name, " measures"),
                  .command = text("lamina ", name, " --out runs/", name),
                  .readme = readme_of(name),
                  .experiment = name};
  for (const std::string& metric : experiment.curves) {
    if (metric == "epoch") continue;  // measures nothing: how far the training is
    const bool best_is_highest = std::ranges::count(experiment.highest, metric) > 0;
    exhibit.charts.push_back({.title = metric,
                              .x = "step",
                              .x_label = "updates",
                              .y = metric,
                              .y_label = metric,
                              .best_is_highest = best_is_highest,
                              .in_all_runs = false});
    exhibit.measures.push_back({"last " + metric, metric, Pick::last});
    exhibit.measures.push_back({(best_is_highest ? "highest " : "lowest ") + metric, metric,
                                best_is_highest ? Pick::highest : Pick::lowest});
  }
  return exhibit;
}

std::vector<Exhibit> exhibits_of_other_experiments(const std::vector<Exhibit>& by_hand) {
  std::vector<Exhibit> all;
  for (const KnownExperiment& experiment : known_experiments())
    if (std::ranges::none_of(by_hand,
                             [&](const Exhibit& exhibit) { return shows_runs_of(exhibit, experiment.name); }))
      all.push_back(exhibit_of(experiment));
  return all;
}

}  // namespace lamina
