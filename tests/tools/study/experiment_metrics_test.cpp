#include "tools/study/experiment_metrics.h"

#include <doctest/doctest.h>

#include <string>

#include "core/error.h"

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
