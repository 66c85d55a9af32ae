// What a study names must be measured.

#include <algorithm>
#include <iterator>

#include "core/error.h"
#include "models/evidence/known_experiments.h"
#include "models/evidence/measured_run.h"
#include "models/evidence/study/study.h"

namespace lamina {

namespace {

bool is_in(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool records(const Study& study) {
  return study.settings.has("record") || std::ranges::any_of(study.combinations, [](const Combination& each) {
           return each.settings.has("record");
         });
}

/// What was chosen on the test set would be judged on the cases that chose it, and would look better than it is.
void require_choice_before_test(const Study& study, const KnownExperiment& own) {
  if (!study.choose.starts_with("test_")) return;
  std::vector<std::string> others;
  for (const std::string_view beginning : {"valid_", "train_"})
    if (others.empty())
      std::ranges::copy_if(own.curves, std::back_inserter(others),
                           [&](const std::string& name) { return name.starts_with(beginning); });
  fail<DataError>(study.file, ": choose: '", study.choose,
                  "' is measured on the test set, on which what is chosen is to be judged; name one of ",
                  joined(others));
}

/// What is recorded, "weight.length.mean", has a point in its name, and only a run tells which there are.
bool may_be_recorded(const std::string& metric) { return metric.find('.') != std::string::npos; }

}  // namespace

void require_metrics_of_experiment(const Study& study) {
  const KnownExperiment* const own = find_known_experiment(study.experiment);
  if (own == nullptr) return;
  for (const auto& [place, metric] : study.named_metrics()) {
    if (is_in(own->curves, metric) || is_in(own->test, metric)) continue;
    if (!may_be_recorded(metric))
      fail<DataError>(study.file, ": ", place, ": '", metric, "' is no metric of lamina ", study.experiment,
                      "; there are ", joined(own->curves), own->test.empty() ? "" : ",", joined(own->test));
    if (!records(study))
      fail<DataError>(study.file, ": ", place, ": '", metric,
                      "' is recorded by runs with \"record\": \"every=100\" alone; add that to 'settings'");
  }
  require_choice_before_test(study, *own);
  for (const Claim& claim : study.claims)
    if (claim.direction == Claim::faster || claim.take.kind == Take::Kind::where_best)
      for (const std::string& metric : {claim.metric, claim.take.other})
        if (is_in(own->test, metric)) refuse_course(study, metric);
  for (const ValuesOf& levels : study.levels)
    if (is_in(own->test, levels.metric)) refuse_course(study, levels.metric);
}

}  // namespace lamina
