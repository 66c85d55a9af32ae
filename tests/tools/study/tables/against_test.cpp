// The ends of a study's runs against a setting.

#include "tools/study/tables/against.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/error.h"
#include "tools/study/tables/ends.h"

using namespace lamina;

namespace {

MeasuredRun run_of(const Study& study, size_t combination, std::int64_t seed, double loss) {
  MeasuredRun run;
  run.run = {.name = text(study.combinations[combination].name, "-seed", seed),
             .combination = combination,
             .seed = seed};
  run.end.outcome = loss < 100 ? RunEnd::finished : RunEnd::diverged;
  run.curves = {.columns = {"epoch", "step", "loss"}, .rows = {{1, 10, 50}}};
  if (loss < 100) run.curves.rows.push_back({2, 20, loss});  // it diverged after the first epoch otherwise
  return run;
}

Study study_of(const std::string& rest) {
  return study_from("s.json", R"({"experiment": "mnist", "seeds": [1, 2], "metrics": ["loss"],
      "against": "lr", "variants": {"norm": ["none", "layer"], "lr": [0.1, 0.01]})" +
                                  rest + "}");
}

/// Norm none fails at the larger rate, and one of layer's does.
std::vector<MeasuredRun> runs_of(const Study& study) {
  return {run_of(study, 0, 1, 200), run_of(study, 0, 2, 300), run_of(study, 1, 1, 4), run_of(study, 1, 2, 5),
          run_of(study, 2, 1, 1),   run_of(study, 2, 2, 9),   run_of(study, 3, 1, 3), run_of(study, 3, 2, 4)};
}

}  // namespace

TEST_CASE("a limit on a metric that a variant does not have is refused, and nothing of it has failed") {
  const Study study = study_of(R"(, "limit": {"metric": "loss", "worst": 8})");
  std::vector<MeasuredRun> runs = runs_of(study);
  runs[4].curves.columns[2] = "other";
  CHECK_THROWS_WITH_AS(variants_csv(study, runs, {"other"}),
                       doctest::Contains("'limit' names 'loss', and layer-lr0.1-seed1 has"), DataError);
}

TEST_CASE("a table against a setting: medians, ranges, the best value and the largest without failure") {
  const Study study = study_of(R"(, "limit": {"metric": "loss", "worst": 8})");
  const std::string section = section_against(study, runs_of(study), {"loss"});
  CHECK(section.find("Failed: diverged, or loss ended above 8.") != std::string::npos);
  CHECK(section.find("| | lr 0.01 | lr 0.1 | best lr | largest without failure |") != std::string::npos);
  CHECK(section.find("| baseline | 4.5 (4 to 5) | 2 of 2 failed | 0.01 | 0.01 |") != std::string::npos);
  CHECK(section.find("| layer norm | 3.5 (3 to 4) | 5 (1 to 9); 1 of 2 failed | 0.01 | 0.01 |") !=
        std::string::npos);
  const Study lenient = study_of("");
  CHECK(section_against(lenient, runs_of(lenient), {"loss"}).find("5 (1 to 9) | 0.01 | 0.1 |") !=
        std::string::npos);
  const auto all = runs_of(lenient);
  const std::string begun = section_against(lenient, {all[2], all[3], all[6], all[7]}, {"loss"});
  CHECK(begun.find("| 0.01 | 0.01 |") != std::string::npos);
  CHECK(begun.find("| 0.1 |\n") == std::string::npos);  // where nothing ran yet, nothing is known
  const Study highest =
      study_of(R"(, "higher_is_better": ["loss"], "limit": {"metric": "loss", "worst": 2})");
  CHECK(section_against(highest, runs_of(highest), {"loss"})
            .find("| layer norm | 3.5 (3 to 4) | 5 (1 to 9); 1 of 2 failed | 0.1 | 0.01 |") !=
        std::string::npos);
}

TEST_CASE("a table against a setting: of medians that only rounding tells apart the first is the best") {
  const Study study = study_of("");
  const std::vector<MeasuredRun> runs{
      run_of(study, 2, 1, 0.1), run_of(study, 2, 2, 0.7),   // 0.39999999999999997
      run_of(study, 3, 1, 0.2), run_of(study, 3, 2, 0.6)};  // 0.4, at the lower rate
  CHECK(section_against(study, runs, {"loss"}).find("0.4 (0.1 to 0.7) | 0.01 | 0.1 |") != std::string::npos);
}

TEST_CASE("a table against a setting: where half of the runs diverged is not the best value") {
  const Study study = study_of("");
  auto runs = runs_of(study);
  runs[4].end.outcome = RunEnd::diverged;
  runs[5] = run_of(study, 2, 2, 0.5);  // layer at 0.1: one run, the lowest of all
  CHECK(section_against(study, runs, {"loss"}).find("0.5 (0.5 to 0.5); 1 of 2 failed | 0.01 | 0.01 |") !=
        std::string::npos);
  const Curve layer = figure_against(study, runs, {"loss"})[0].curves[1];
  CHECK(layer.y.at(0) < 100);
  CHECK(layer.y.at(1) == std::numeric_limits<double>::infinity());
  CHECK(layer.low.at(1) == 0.5);  // the band shows the other half
}

TEST_CASE("a file with a row for each variant: the median counts what diverged as the worst") {
  const Study study = study_from("s.json", R"({"experiment": "mnist", "seeds": [1, 2, 3],
      "variants": {"lr": [0.1, 0.01]}})");
  const std::vector<MeasuredRun> runs{run_of(study, 0, 1, 1),   run_of(study, 0, 2, 200),
                                      run_of(study, 0, 3, 5),   run_of(study, 1, 1, 2),
                                      run_of(study, 1, 2, 200), run_of(study, 1, 3, 200)};
  CHECK(variants_csv(study, runs, {"loss"}) ==
        "lr,runs,failed,loss,loss_low,loss_high\n0.1,3,1,5,1,5\n0.01,3,2,nan,2,2\n");
  const Study highest = study_from("s.json", R"({"experiment": "mnist", "seeds": [1, 2, 3],
      "variants": {"lr": [0.1, 0.01]}, "higher_is_better": ["loss"]})");
  CHECK(variants_csv(highest, runs, {"loss"}).find("\n0.1,3,1,1,1,5\n") != std::string::npos);
}

TEST_CASE("a word that two settings have is named with its setting") {
  const Study study = study_from("s.json", R"({"experiment": "transformer", "against": "lr",
      "variants": [{"positions": "none", "lr": [0.1, 0.01]}, {"lr": [0.1, 0.01], "decay": "none"}]})");
  const std::string section = section_against(study, runs_of(study), {"loss"});
  CHECK(section.find("| positions none | ") != std::string::npos);
  CHECK(section.find("| decay none | ") != std::string::npos);
}

TEST_CASE("a file with a row for each variant") {
  const Study study = study_of(R"(, "limit": {"metric": "loss", "worst": 8})");
  CHECK(variants_csv(study, runs_of(study), {"loss"}) ==
        "norm,lr,runs,failed,loss,loss_low,loss_high\n"
        "none,0.1,2,2,nan,nan,nan\nnone,0.01,2,0,4.5,4,5\nlayer,0.1,2,1,5,1,9\nlayer,0.01,2,0,3.5,3,4\n");
  const Study open = study_from("s.json", R"({"experiment": "mnist",
      "variants": [{"norm": ["none", "layer"], "lr": 0.1}, {"lr": [0.01, 0.1]}]})");
  CHECK(variants_csv(open, runs_of(open), {"loss"}).ends_with("\n,0.01,2,0,5,1,9\n,0.1,2,0,3.5,3,4\n"));
}

TEST_CASE("a figure against a setting: medians in bands, a panel for each value of another one") {
  const Study study = study_of(R"(, "limit": {"metric": "loss", "worst": 8})");
  const auto panels = figure_against(study, runs_of(study), {"loss"});
  REQUIRE(panels.size() == 1);
  CHECK(panels[0].log_x);
  REQUIRE(panels[0].curves.size() == 3);
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const Curve& none = panels[0].curves[0];
  CHECK(none.x == std::vector<double>{0.01, 0.1});
  for (const auto* values : {&none.y, &none.low, &none.high}) {
    CHECK(std::isfinite(values->at(0)));
    CHECK(values->at(1) == infinite);  // both diverged, which interrupts line and band
  }
  const Curve& layer = panels[0].curves[1];
  CHECK(layer.title == "layer norm");
  CHECK(layer.x == std::vector<double>{0.01, 0.1});
  CHECK(layer.y == std::vector<double>{3.5, 5});
  CHECK(layer.low == std::vector<double>{3, 1});
  CHECK(layer.high == std::vector<double>{4, 9});
  CHECK(panels[0].curves[2].y == std::vector<double>{8, 8});

  const Study apart = study_of(R"(, "panels": "norm")");
  const auto two = figure_against(apart, runs_of(apart), {"loss"});
  REQUIRE(two.size() == 2);
  CHECK(two[1].title == "norm layer");
  CHECK(two[1].curves.size() == 1);
  CHECK(two[0].y_min == two[1].y_min);
  CHECK(*two[0].y_min < 1);
  CHECK(*two[0].y_max > 9);
}
