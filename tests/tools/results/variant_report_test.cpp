// The tables that commands print of the variants that they have trained.

#include "tools/results/variant_report.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace lamina;

namespace {

TrainedVariant variant(const std::string& title, const std::vector<std::vector<double>>& rows) {
  return {.variant = {.norm = "layer", .name = title, .title = title},
          .curves = {.columns = {"step", "loss", "error"}, .rows = rows},
          .test = {.columns = {"test_error"}, .rows = {{0.5}}}};
}

/// Of the last one nothing has been measured yet but its test.
TrainedVariants three() {
  return {variant("a", {{10, 3, 0.3}, {20, 1, 0.2}, {30, 2, 0.1}}),
          variant("b", {{10, 2, 0.4}, {20, 4, 0.1}}), variant("c", {})};
}

}  // namespace

TEST_CASE("variant report: what all have reached, and what is left of each up to there") {
  TrainedVariants backwards = three();
  std::ranges::reverse(backwards);
  CHECK(reached_by_all(three()) == 20);
  CHECK(reached_by_all(backwards) == 20);
  const TrainedVariants cut = up_to(20, three());
  CHECK(cut[0].curves.column("step") == std::vector<double>{10, 20});
  CHECK(cut[0].test.rows.empty());  // which may be of the 30th update
  CHECK(cut[1].curves.column("step") == std::vector<double>{10, 20});
  CHECK(cut[1].test.rows.size() == 1);
}

TEST_CASE(
    "variant report: last values and those at the lowest, the lowest in bold, a dash where there is none") {
  const ReportColumn end = last("last", "loss", "%.1f");
  const ReportColumn lowest = lowest_bold(at_lowest("loss", "at best", "error", "%.0f%%", 100));
  CHECK(table_of(three(), {title_column(""), end, lowest, tested("test", "test_error", "%.2f")}) ==
        "| | last | at best | test |\n|---|---|---|---|\n"
        "| a | 2.0 | **20%** | 0.50 |\n"
        "| b | 4.0 | 40% | 0.50 |\n"
        "| c | - | - | 0.50 |\n");
}
