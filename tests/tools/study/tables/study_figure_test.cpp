// The figure of a study against updates.

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>

#include "tools/study/tables/study_report.h"

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

TEST_CASE("a figure has a panel for each metric, however many there are") {
  const Study study = study_from("s.json", R"({"experiment": "order-embedding"})");
  MeasuredRun run{.run = study.runs()[0], .end = {.outcome = RunEnd::finished}};
  run.curves = {.columns = {"epoch", "step"}, .rows = {{1, 10}}};
  for (int i = 0; i < 11; ++i) {
    run.curves.columns.push_back("metric" + std::to_string(i));
    run.curves.rows[0].push_back(i);
  }
  CHECK(study_figure(study, {run}, false).size() == 11);
  CHECK(compared_figure(study, {run}, false).size() == 11);
}

TEST_CASE("an axis has the ends that the study gives it, with and without a setting to show ends against") {
  for (const char* const against : {"", R"("against": "lr", "panels": "batch",)"}) {
    const Study study = study_from("s.json", std::string(R"({"experiment": "mnist", )") + against + R"(
        "variants": {"lr": [0.1, 0.2], "batch": [4, 8]}, "metrics": ["valid_loss", "train_loss"],
        "range": {"valid_loss": [1, 2]}})");
    std::vector<MeasuredRun> runs;
    for (const StudyRun& run : study.runs())
      runs.push_back(
          {.run = run,
           .end = {.outcome = RunEnd::finished},
           .curves = {.columns = {"epoch", "step", "valid_loss", "train_loss"}, .rows = {{1, 10, 3, 3}}}});
    for (const std::vector<Panel>& panels :
         {study_figure(study, runs, false), compared_figure(study, runs, false)})
      for (const Panel& panel : panels) {
        CHECK((panel.y_min == 1 && panel.y_max == 2) == (panel.y_label == "valid_loss"));
      }
  }
}

TEST_CASE("no two of many curves look alike, also of last values against a setting") {
  for (const char* const against : {"", R"("against": "lr",)"}) {
    std::string values = "1";
    for (int i = 2; i <= 40; ++i) values += "," + std::to_string(i);
    const Study study = study_from("s.json", std::string(R"({"experiment": "mnist", )") + against +
                                                 R"("variants": {"lr": [0.1], "batch": [)" + values + "]}}");
    std::vector<MeasuredRun> runs;
    for (const StudyRun& run : study.runs())
      runs.push_back({.run = run,
                      .end = {.outcome = RunEnd::finished},
                      .curves = {.columns = {"epoch", "step", "valid_loss"}, .rows = {{1, 10, 3}}}});
    const std::vector<Curve> curves = study_figure(study, runs, false).at(0).curves;
    std::set<std::pair<int, Line>> looks;
    for (const Curve& curve : curves) looks.emplace(curve.color, curve.line);
    CHECK(curves.size() == 40);
    CHECK(looks.size() == 40);
  }
}

TEST_CASE("a figure's median does not forget the runs that diverged, also before their first row") {
  const Study study = study_from("s.json", R"({"experiment": "mnist", "seeds": [1, 2, 3]})");
  std::vector<MeasuredRun> runs;
  for (const StudyRun& run : study.runs())
    runs.push_back({.run = run,
                    .end = {.outcome = RunEnd::finished},
                    .curves = {.columns = {"epoch", "step", "valid_loss"},
                               .rows = {{1, 10, 3 * static_cast<double>(run.seed)}, {2, 20, 1}}}});
  runs[1].curves.rows.pop_back();
  runs[2].curves = {};
  for (const size_t lost : {1U, 2U}) runs[lost].end.outcome = RunEnd::diverged;
  const Curve curve = study_figure(study, runs, false).at(0).curves.at(0);
  CHECK(curve.x == std::vector<double>{10});
  CHECK(curve.y == std::vector<double>{6});
  CHECK(study_figure(study, runs, true).at(0).curves.size() == 4);  // and each run
}

TEST_CASE("a table of a metric has the numbers of runs that finished, and counts those that diverged") {
  const Study study = study_from("s.json", R"({"experiment": "mnist", "seeds": [1, 2, 3],
      "variants": {"norm": ["none", "layer"]}})");
  std::vector<MeasuredRun> runs;
  for (const StudyRun& run : study.runs()) {
    const double loss = 2 * static_cast<double>(run.seed) + (run.combination == 0 ? 1 : 0);
    runs.push_back(
        {.run = run,
         .end = {.outcome = RunEnd::finished},
         .curves = {.columns = {"epoch", "step", "loss"}, .rows = {{1, 10, loss - 1}, {2, 20, loss}}}});
  }
  runs.back().end.outcome = RunEnd::diverged;
  const std::string summary = summary_of(study, runs, {});
  CHECK(summary.find("| none | 3 | 0 | 5 | 5 | 2 | 4 | 4 | 2 |") != std::string::npos);
  CHECK(summary.find("| layer | 2 | 1 | 3 | 3 | 1.414 | 2 | 2 | 1.414 |") != std::string::npos);
  runs[4].curves.rows.back().back() = std::nan("");  // norm none, seed 3
  CHECK(summary_of(study, runs, {}).find("| none | 3 | 0 | 4, 2 of 3 | 4 | 1.414 | 4 | 4 | 2 |") !=
        std::string::npos);
}
