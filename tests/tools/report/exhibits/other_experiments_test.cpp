// The exhibit of an experiment that has none written by hand.

#include <set>
#include <string>

#include "models/evidence/known_experiments.h"
#include "tests/temporary_folder.h"
#include "tests/tools/report/runs_folder.h"
#include "tools/report/exhibits/exhibits.h"

using namespace lamina;
using namespace lamina::report_test;

namespace {

const KnownExperiment word_order{.name = "word-order",
                                 .seconds = 7,
                                 .example = {},
                                 .curves = {"epoch", "train_nll", "valid_hits", "population_nll"},
                                 .test = {"test_hits"},
                                 .highest = {"valid_hits", "test_hits"}};

}  // namespace

TEST_CASE("an exhibit made of what is known of an experiment shows each of its curves") {
  const Exhibit made = exhibit_of(word_order);
  CHECK(made.part == later_part);
  CHECK(made.id == "experiment-word-order");
  CHECK(made.title == "Word order");
  CHECK(made.subject == "What lamina word-order measures");
  CHECK(made.command == "lamina word-order --out runs/word-order");
  CHECK(made.readme == "models/word_order/README.md");
  CHECK(made.experiment == "word-order");
  CHECK(made.file == "metrics.csv");
  CHECK(made.claim.empty());
  CHECK(made.paper.empty());
  REQUIRE(made.charts.size() == 3);
  for (const ChartPlan& chart : made.charts) CHECK(chart.x == "step");
  CHECK(made.charts[0].title == "train_nll");
  CHECK(made.charts[0].y == "train_nll");
  CHECK_FALSE(made.charts[0].best_is_highest);
  CHECK(made.charts[1].y == "valid_hits");
  CHECK(made.charts[1].best_is_highest);
  REQUIRE(made.measures.size() == 6);
  CHECK(made.measures[0].title == "last train_nll");
  CHECK(made.measures[0].pick == Pick::last);
  CHECK(made.measures[1].title == "lowest train_nll");
  CHECK(made.measures[1].pick == Pick::lowest);
  CHECK(made.measures[3].title == "highest valid_hits");
  CHECK(made.measures[3].column == "valid_hits");
  CHECK(made.measures[3].pick == Pick::highest);
}

TEST_CASE("it takes a run of the experiment, and does not miss a column that only other settings have") {
  const TemporaryFolder folder;
  make_run_of("word-order", folder / "a", {{"norm", "layer"}, {"epochs", 3}},
              "report,step,seconds,epoch,train_nll,valid_hits\n1,10,1,1,0.5,70\n2,20,2,2,0.25,90\n"
              "3,30,3,3,0.375,80\n");
  const std::vector<FoundRun> runs = find_runs({folder.path()}).runs;
  const Exhibit made = exhibit_of(word_order);
  const std::vector<Trace> traces = traces_of(made, runs);
  const Json charts = charts_of(made, traces, {});
  REQUIRE(charts.size() == 2);
  CHECK(charts[1]["title"] == "valid_hits");
  CHECK(charts[1]["paper"].is_null());
  CHECK(charts[1]["curves"][0]["label"] == "layer norm");
  CHECK(charts[1]["curves"][0]["x"] == Json({10, 20, 30}));
  CHECK(charts[1]["curves"][0]["y"] == Json({70, 90, 80}));
  const Json tables = tables_of(made, traces, runs);
  REQUIRE(tables.size() == 1);
  CHECK(tables[0]["title"] == "Measured");
  CHECK(tables[0]["rows"][0]["cells"] == Json({"0.375", "0.25", "80", "90", "–", "–"}));
  const Json shown = runs_of(made, runs);
  REQUIRE(shown.size() == 1);
  CHECK(shown[0]["problems"].empty());
  CHECK(badges_of(shown[0]) == std::set<std::string>{"synthetic data"});
}

TEST_CASE("the single updates of its runs are shown as those of any other") {
  CHECK(updates_of(exhibit_of(word_order)).charts.size() == 2);
}

TEST_CASE("an experiment whose runs an exhibit shows gets no other, and all others get one") {
  CHECK(exhibits_of_other_experiments(exhibits()).empty());
  CHECK(exhibits_of_other_experiments({}).size() == known_experiments().size());
  const std::vector<Exhibit> of_study{{.experiment = "transformer", .study = "warmup"}};
  CHECK(exhibits_of_other_experiments(of_study).size() == known_experiments().size());
  const std::vector<Exhibit> of_runs{{.experiment = "transformer"}};
  CHECK(exhibits_of_other_experiments(of_runs).size() == known_experiments().size() - 1);
}
