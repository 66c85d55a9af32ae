// When a study's runs come to certain values.

#include "tools/study/tables/levels.h"

#include <doctest/doctest.h>

#include "core/error.h"

using namespace lamina;

namespace {

Study study_of(const std::string& levels) {
  return study_from("s.json", R"({"experiment": "mnist", "seeds": [1, 2, 3],
      "variants": {"norm": ["none", "layer"]}, "levels": )" +
                                  levels + "}");
}

/// Losses after epochs of ten updates each.
MeasuredRun run_of(size_t combination, std::int64_t seed, const std::vector<double>& losses,
                   RunEnd::Outcome outcome = RunEnd::finished) {
  MeasuredRun run;
  run.run = {.name = text("run-", combination, '-', seed), .combination = combination, .seed = seed};
  run.end.outcome = outcome;
  run.curves.columns = {"epoch", "step", "loss"};
  for (size_t i = 0; i < losses.size(); ++i)
    run.curves.rows.push_back({static_cast<double>(i + 1), 10 * static_cast<double>(i + 1), losses[i]});
  return run;
}

bool has(const std::string& all, const std::string& part) { return all.find(part) != std::string::npos; }

}  // namespace

TEST_CASE(
    "levels: the first epoch at a level or beyond, the median of the runs and the range of those that came") {
  const Study study = study_of(R"({"loss": [5, 3, 1, 0]})");
  const std::string section =
      section_levels(study, {run_of(0, 1, {6, 5, 4, 2}), run_of(0, 2, {4, 3, 6, 1}),
                             run_of(0, 3, {9, 9, 9, 9}), run_of(1, 1, {2, 2, 2}),
                             run_of(1, 2, {7, 3}, RunEnd::diverged), run_of(1, 3, {0, 0}, RunEnd::waiting)});
  CHECK(has(section, "The first epoch after which a run was measured there"));
  CHECK(has(section, "| variant | at most 5 | at most 3 | at most 1 | at most 0 |"));
  // Of three baselines one never comes to 5, two never to 1. Of two with layer norm that have ended none comes to 1.
  CHECK(has(section, "| none | 2 (1 to 2), 2 of 3 | 4 (2 to 4), 2 of 3 | -, 1 of 3 | - |"));
  CHECK(has(section, "| layer | 1.5 (1 to 2) | 1.5 (1 to 2) | - | - |"));
}

TEST_CASE("levels: what is recorded between two rows of metrics.csv belongs to the epoch that ends next") {
  const Study study = study_of(R"({"gain": [4, 3, 1]})");
  MeasuredRun run = run_of(0, 1, {6, 5}, RunEnd::diverged);
  run.recorded = {.columns = {"step", "gain"}, .rows = {{0, 5}, {10, 4}, {15, 3}, {25, 1}}};
  CHECK(has(section_levels(study, {run}), "| none | 1 (1 to 1) | 2 (2 to 2) | 3 (3 to 3) |"));
}

TEST_CASE("levels: of a metric of which more is better, in updates where there are no epochs") {
  Study study = study_of(R"({"loss": [3]})");
  study.higher = {"loss"};
  MeasuredRun run = run_of(0, 1, {1, 2, 3, 1});
  run.curves.columns[0] = "validation";
  const std::string section = section_levels(study, {run});
  CHECK(has(section, "The first update after which a run was measured there"));
  CHECK(has(section, "| variant | at least 3 |"));
  CHECK(has(section, "| none | 30 (30 to 30) |"));
  CHECK(has(section, "| layer | |"));
  CHECK(section_levels(study_from("s.json", R"({"experiment": "mnist"})"), {run}).empty());
}
