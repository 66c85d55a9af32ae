#include "models/evidence/known_experiments.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <string_view>

#include "core/error.h"
#include "models/evidence/study/study.h"

using namespace lamina;

namespace {

std::string complaint(const std::string& experiment, const std::string& metric) {
  try {
    require_metrics_of_experiment(
        study_from("s.json", R"({"experiment": ")" + experiment + R"(", "choose": ")" + metric + R"("})"));
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("study: nothing is chosen on the test set, be it measured once or after each epoch") {
  const std::string why =
      "' is measured on the test set, on which what is chosen is to be judged; name one of ";
  CHECK(complaint("mnist", "test_error") == "s.json: choose: 'test_error" + why + "valid_nll,valid_error");
  CHECK(complaint("transformer", "test_bits") == "s.json: choose: 'test_bits" + why + "valid_nll,valid_bits");
  CHECK(complaint("handwriting", "test_nll") == "s.json: choose: 'test_nll" + why + "train_nll");
  CHECK(
      complaint("order-embedding", "test_caption_r1").starts_with("s.json: choose: 'test_caption_r1" + why));
  CHECK(complaint("mnist", "valid_error").empty());
  CHECK(complaint("attentive-reader", "population_error").empty());
  CHECK(complaint("handwriting", "train_nll").empty());
}

TEST_CASE(
    "metrics: every experiment says how many epochs are done, by which the report knows unfinished runs") {
  const std::set<std::string_view> in_epochs{"mnist", "convnet", "draw"};  // their first column counts them
  for (const KnownExperiment& each : known_experiments())
    CHECK_MESSAGE((in_epochs.contains(each.name) || std::ranges::count(each.curves, "epoch") == 1), each.name,
                  ": name 'epoch' among its curves, or it here if its first column counts epochs");
}

TEST_CASE(
    "metrics: of one whose name is not a loss's, an error's or a rank's the highest value is the best") {
  const std::regex lowest(
      "epoch|learning_rate|.*_(nll|error|loss|bound|reconstruction|kl|bits|mse|mean_rank)");
  for (const KnownExperiment& each : known_experiments())
    for (const std::vector<std::string>& names : {each.curves, each.test})
      for (const std::string& name : names)
        CHECK_MESSAGE(std::regex_match(name, lowest) != (std::ranges::count(each.highest, name) > 0),
                      each.name, ": ", name, ": the highest value is the best, or add its ending here");
}

TEST_CASE("metrics: an experiment says of which the highest value is the best, and a study obeys") {
  for (const KnownExperiment& each : known_experiments()) {
    CAPTURE(each.name);
    const auto is_measured = [&](const std::string& name) {
      return std::ranges::count(each.curves, name) + std::ranges::count(each.test, name) > 0;
    };
    CHECK(std::ranges::all_of(each.highest, is_measured));
  }
  const Study order = study_from("s.json", R"({"experiment": "order-embedding"})");
  for (const char* const recall : {"valid_image_r1", "test_caption_r5", "valid_image_r10", "valid_sum"})
    CHECK(order.best_is_highest(recall));
  CHECK_FALSE(order.best_is_highest("valid_image_mean_rank"));
  const Study other = study_from("s.json", R"({"experiment": "mnist", "higher_is_better": ["hits"]})");
  CHECK(other.best_is_highest("hits"));
  CHECK_FALSE(other.best_is_highest("error_sum"));  // a name says nothing
}
