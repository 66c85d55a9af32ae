#include "models/evidence/experiment_metrics.h"

#include <algorithm>
#include <iterator>

#include "core/error.h"
#include "models/evidence/measured_run.h"
#include "models/evidence/study.h"

namespace lamina {

const std::vector<ExperimentMetrics>& experiment_metrics() {
  static const std::vector<std::string> of_digits{"train_nll", "valid_nll", "valid_error", "test_nll",
                                                  "test_error"};
  static const std::vector<ExperimentMetrics> all{
      {"mnist", of_digits, {}, {}},
      {"convnet", of_digits, {}, {}},
      {"draw",
       {"epoch_bound", "train_bound", "train_reconstruction", "train_kl", "valid_bound", "test_bound",
        "test_reconstruction", "test_kl"},
       {},
       {}},
      {"handwriting", {"epoch", "running_nll", "train_nll", "test_nll"}, {}, {}},
      {"order-embedding",
       {"epoch", "train_loss", "valid_sum", "valid_caption_r1", "valid_caption_r5", "valid_caption_r10",
        "valid_caption_mean_rank", "valid_image_r1", "valid_image_r5", "valid_image_r10",
        "valid_image_mean_rank"},
       {"test_caption_r1", "test_caption_r5", "test_caption_r10", "test_caption_mean_rank", "test_image_r1",
        "test_image_r5", "test_image_r10", "test_image_mean_rank"},
       {"valid_sum", "valid_caption_r1", "valid_caption_r5", "valid_caption_r10", "valid_image_r1",
        "valid_image_r5", "valid_image_r10", "test_caption_r1", "test_caption_r5", "test_caption_r10",
        "test_image_r1", "test_image_r5", "test_image_r10"}},
      {"attentive-reader",
       {"epoch", "train_loss", "valid_loss", "valid_error", "population_loss", "population_error",
        "moving_loss", "moving_error", "chance_error", "frequent_error", "frequent_other_error"},
       {"test_loss", "test_error", "test_population_loss", "test_population_error"},
       {}},
      {"skip-thoughts", {"epoch", "train_nll", "valid_nll"}, {}, {}},
      {"transformer",
       {"epoch", "train_nll", "valid_nll", "valid_bits", "learning_rate"},
       {"test_nll", "test_bits"},
       {}}};
  return all;
}

const ExperimentMetrics* metrics_of_experiment(std::string_view name) {
  const auto own = std::ranges::find(experiment_metrics(), name, &ExperimentMetrics::experiment);
  return own == experiment_metrics().end() ? nullptr : &*own;
}

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
void require_choice_before_test(const Study& study, const ExperimentMetrics& own) {
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
  const ExperimentMetrics* const own = metrics_of_experiment(study.experiment);
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
