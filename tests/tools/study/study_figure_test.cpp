// The figure of a study against updates.

#include <doctest/doctest.h>

#include "tools/study/study_report.h"

using namespace lamina;

TEST_CASE("a curve needs more than the one number of a test") {
  const Study study =
      study_from("s.json", R"({"experiment": "mnist", "variants": {"norm": ["none", "layer"]}})");
  std::vector<MeasuredRun> runs;
  for (const StudyRun& run : study.runs())
    runs.push_back({.run = run,
                    .end = {.outcome = RunEnd::finished},
                    .curves = {.columns = {"epoch", "step", "valid_loss"}, .rows = {{1, 10, 3}, {2, 20, 2}}},
                    .test = {.columns = {"parts", "test_loss"}, .rows = {{1, 2.5}}}});
  const std::vector<Panel> panels = study_figure(study, runs, false);
  REQUIRE(panels.size() == 1);
  CHECK(panels[0].y_label == "valid_loss");
  CHECK(panels[0].curves.size() == 2);
  CHECK(compared_figure(study, runs, false).size() == 1);
}
