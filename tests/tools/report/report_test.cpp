#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "core/error.h"
#include "core/files/file.h"
#include "models/evidence/known_experiments.h"
#include "tests/temporary_folder.h"
#include "tests/tools/report/runs_folder.h"
#include "tools/report/exhibits/exhibits.h"
#include "tools/report/page.h"

using namespace lamina;
using namespace lamina::report_test;

TEST_CASE("every figure, table and study of the paper is an exhibit, with or without runs") {
  const Json document = make_document({});
  std::set<std::string> ids;
  for (const Json& each : document["exhibits"]) {
    ids.insert(each["id"].get<std::string>());
    CHECK(each["charts"].empty());
    CHECK(badges_of(each) == std::set<std::string>{"not run here"});
    CHECK(each["claim"].get<std::string>().empty() ==
          each["id"].get<std::string>().starts_with("experiment-"));  // made of what is known of one
    CHECK_FALSE(each["command"].get<std::string>().empty());
  }
  for (const char* id : {"figure-1", "figure-2", "figure-3", "figure-4", "figure-5", "figure-6", "table-1",
                         "table-2", "table-3", "section-5-2", "speed"})
    CHECK_MESSAGE(ids.contains(id), id);
  CHECK(ids.size() == exhibits().size() + 1);
  for (const Exhibit& each : exhibits())
    for (const PaperRow& row : each.paper) {
      CHECK_MESSAGE(row.cells.size() == each.measures.size() + each.paper_columns.size(), each.id, row.label);
      CHECK_MESSAGE(row.of.size() <= each.distinctions.size(), each.id, row.label);
    }
}

TEST_CASE("an exhibit shows what its experiment measures, and knows which value is the best") {
  for (const Exhibit& each : exhibits()) {
    const KnownExperiment* const own = find_known_experiment(each.experiment);
    const bool of_curves = each.file == "metrics.csv", of_test = each.file == "test.csv";
    if (own == nullptr) continue;
    std::set<std::string> columns{"step", "epoch", "seconds"};
    for (const std::string& name : of_test ? own->test : own->curves) columns.insert(name);
    const auto is_there = [&](const std::string& column) {
      return !(of_curves || of_test) || !each.study.empty() || columns.contains(column);
    };
    CAPTURE(each.id);
    for (const Measure& measure : each.measures) {
      CHECK_MESSAGE(is_there(measure.column), measure.column);
      CHECK_MESSAGE(is_there(measure.x), measure.x);
    }
    for (const ChartPlan& chart : each.charts) {
      CHECK_MESSAGE(is_there(chart.x), chart.x);
      CHECK_MESSAGE(is_there(chart.y), chart.y);
      for (const Level& level : chart.levels) CHECK_MESSAGE(is_there(level.column), level.column);
      if (columns.contains(chart.y))
        CHECK_MESSAGE(chart.best_is_highest == (std::ranges::count(own->highest, chart.y) > 0), chart.y);
    }
  }
}

TEST_CASE("the exhibits of a part follow each other, the paper's first") {
  const Json document = make_document({});
  Json parts = Json::array();
  for (const Json& each : document["exhibits"])
    if (parts.empty() || parts.back() != each["part"]) parts.push_back(each["part"]);
  CHECK(parts == Json({"The paper", "After the paper", "The laboratory", "Speed"}));
}

TEST_CASE("a lab's folder becomes its exhibit: verdicts, and curves with bands") {
  const TemporaryFolder folder;
  write_file(folder / "config.json",
             R"({"experiment": "lab", "variant": "gain", "settings": {"seeds": "1,2", "smoke": 1},
                 "lamina": "0.1.0", "scalar": "float", "threads": 1, "backend": "own kernels"})");
  write_file(folder / "curves.csv",
             "variant,x,test error at the end,test error at the end low,test error at the end high\n"
             "batch,0.1,2,1,3\nbatch,1,4,3,5\nbatch from 0.1,100,,,\n");
  write_file(
      folder / "verdicts.json",
      R"([{"claim": "it is lower", "answer": "holds", "difference": 2, "interval": [1, 3], "n": 2, "data": "",
                  "subject": "batch at 0.1", "other": "batch at 1"}])");
  const Json lab = exhibit_of(make_document(find_runs({folder.path()})), "lab-gain");
  CHECK(lab["part"] == "The laboratory");
  const Json& curves = lab["charts"][0]["curves"];
  REQUIRE(curves.size() == 1);
  CHECK(curves[0]["label"] == "batch norm");
  CHECK(curves[0]["y"] == Json({2, 4}));
  CHECK(curves[0]["low"] == Json({1, 3}));
  CHECK(badges_of(lab["runs"][0]) == std::set<std::string>{"synthetic data", "cut down by LAMINA_SMOKE=1"});
  CHECK(lab["tables"].back()["rows"][0]["label"] == "it is lower");
  CHECK(lab["tables"].back()["rows"][0]["cells"][0] == "holds");
}

TEST_CASE(
    "variants of a norm have its colour and dashes of their own, and what is no norm has none of a norm") {
  const TemporaryFolder folder;
  write_file(folder / "config.json",
             R"({"experiment": "lab", "variant": "gain", "settings": {"seeds": "1"},
                 "lamina": "0.1.0", "scalar": "float", "threads": 1, "backend": "own kernels"})");
  std::string rows = "variant,x,test error at the end,test error at the end low,test error at the end high\n";
  for (const char* variant : {"batch", "batch with decay", "theory", "chance"})
    rows += text(variant, ",1,2,1,3\n");
  write_file(folder / "curves.csv", rows);
  const Json document = make_document(find_runs({folder.path()}));
  const Json lab = exhibit_of(document, "lab-gain");
  std::set<std::pair<std::string, int>> looks;
  for (const Json& curve : lab["charts"][0]["curves"]) {
    looks.emplace(curve["norm"].get<std::string>(), curve["dash"].get<int>());
    CHECK(document["looks"]["colors"].contains(curve["norm"].get<std::string>()));
  }
  CHECK(looks ==
        std::set<std::pair<std::string, int>>{{"batch", 0}, {"batch", 1}, {"plain-0", 0}, {"plain-1", 0}});
}

TEST_CASE("placements become curves beside theory's: of the deepest model, or of each depth's last block") {
  const TemporaryFolder folder;
  write_file(folder / "config.json",
             R"({"experiment": "placement", "variant": "", "settings": {"depths": "2,10", "width": 8},
                 "lamina": "0.1.0", "scalar": "double", "threads": 1, "backend": "own kernels"})");
  write_file(folder / "placement.csv",
             "placement,depth,block,after_block,gradient,formula_after_block,formula_gradient\n"
             "pre,10,1,2,7,2.5,nan\npre,10,2,3,6,3.5,6.5\npre,2,1,4,9,4.5,nan\npre,2,2,5,8,5.5,8.5\n"
             "none,10,1,30,1,31,2\n");
  const Json document = make_document(find_runs({folder.path()}));
  const Json stream = exhibit_of(document, "placement-stream");
  const Json& curves = stream["charts"][0]["curves"];
  REQUIRE(curves.size() == 4);
  CHECK(curves[0]["label"] == "pre-LN");
  CHECK(curves[0]["norm"] == "pre");
  CHECK(curves[0]["y"] == Json({2, 3}));  // 10 is more than 2, as a number
  CHECK(curves[1]["label"] == "pre-LN, mean field");
  CHECK(curves[1]["y"] == Json({2.5, 3.5}));
  CHECK(curves[1]["dash"] != curves[0]["dash"]);
  CHECK(curves[2]["label"] == "baseline");
  CHECK(stream["tables"][0]["rows"][0]["cells"] == Json({"2", "2", "3", "3.5"}));
  CHECK(stream["runs"][0]["command"] ==
        "lamina placement --depths 2,10 --width 8 --threads 1 --out " + folder.path());
  const Json by_depth = exhibit_of(document, "placement-gradient")["charts"][0]["curves"];
  CHECK(by_depth[0]["x"] == Json({10, 2}));
  CHECK(by_depth[0]["y"] == Json({6, 8}));
  const Json by_block = exhibit_of(document, "placement-blocks");
  CHECK(by_block["charts"][0]["curves"][0]["y"] == Json({7, 6}));
  CHECK(by_block["charts"][0]["curves"][1]["y"] == Json({nullptr, 6.5}));
  CHECK(by_block["tables"][0]["columns"] ==
        Json({"blocks", "first block", "last block", "mean field, last"}));
  CHECK(by_block["tables"][0]["rows"][0]["cells"] == Json({"2", "7", "6", "6.5"}));
}

TEST_CASE("what is unknown at first or at last is not taken from other rows") {
  const TemporaryFolder folder;
  write_file(
      folder / "stability.csv",
      "norm,scale,step,hidden_norm,hidden_gradient_norm\nnone,1,1,nan,3\nnone,1,2,5,4\nnone,1,3,6,nan\n");
  CHECK(exhibit_on(folder.path(), "section-3-1")["tables"][0]["rows"][0]["cells"] ==
        Json({"–", "6", "3", "–"}));
}

namespace {

/// What lamina study leaves, with one run's folder in it.
void make_study(const std::string& folder, const std::string& name) {
  std::filesystem::create_directories(folder);
  write_file(folder + "/study.json",
             R"({"study": ")" + name +
                 R"(", "experiment": "transformer", "smoke": 2, "settings": {}, "combinations": {}})");
  write_file(
      folder + "/variants.csv",
      "norm,lr,runs,failed,valid_bits,valid_bits_low,valid_bits_high,test_bits,test_bits_low,test_bits_high\n"
      "layer,0.001,5,0,2.6,2.5,2.7,2.8,2.7,2.9\nlayer,0.01,5,5,nan,nan,nan,nan,nan,nan\n"
      "detached,0.001,5,0,3.5,3.4,3.6,3.7,3.6,3.8\n");
  write_file(
      folder + "/verdicts.json",
      R"([{"claim": "A <b>", "answer": "holds", "subject": "a", "other": "b", "n": 5, "difference": 0.4671,
                  "interval": [0.3, 0.52], "data": "books/emma.txt: 9 characters; preset small"},
                 {"claim": "B", "answer": "cannot be told", "subject": "a", "other": "c", "n": 2, "data": ""}])");
  make_run(folder + "/layer-seed1", "layer", two_epochs);
}

}  // namespace

TEST_CASE("a study becomes medians in bands and a table of verdicts, and its runs stand nowhere else") {
  const TemporaryFolder folder;
  make_study(folder / "norms", "norms");
  const Json document = make_document(find_runs({folder.path()}));
  const Json shown = exhibit_of(document, "study-norms");
  REQUIRE(shown["charts"].size() == 1);
  const Json& curves = shown["charts"][0]["curves"];
  CHECK(curves[1]["label"] == "layer norm");
  CHECK(curves[1]["y"] == Json::array({2.6, nullptr}));
  CHECK(curves[1]["low"] == Json::array({2.5, nullptr}));
  CHECK(curves[1]["high"] == Json::array({2.7, nullptr}));
  CHECK(shown["tables"][0]["rows"][1]["cells"] == Json({"2.6", "0.001", "2.8"}));
  const Json& claims = shown["tables"][1]["rows"];
  CHECK(claims[0]["label"] == "A <b>");
  CHECK(claims[0]["cells"] == Json({"holds", "0.467", "0.3 to 0.52", "5", "a against b"}));
  CHECK(claims[1]["cells"] == Json({"cannot be told", "–", "–", "2", "a against c"}));
  CHECK(badges_of(shown["runs"][0]) ==
        std::set<std::string>{"data: books/emma.txt", "small preset", "cut down by LAMINA_SMOKE=2"});
  CHECK(exhibit_of(document, "study-warmup")["runs"].empty());
  CHECK(exhibit_of(document, "figure-6")["runs"].empty());
  CHECK(document["leftovers"].empty());
}

TEST_CASE("a study without an exhibit leaves its runs to the others") {
  const TemporaryFolder folder;
  make_study(folder / "own", "own");
  const Json document = make_document(find_runs({folder.path()}));
  CHECK(exhibit_of(document, "figure-6")["runs"].size() == 1);
  CHECK(document["leftovers"].empty());
}

TEST_CASE("what is missing or damaged of a study is said") {
  const TemporaryFolder folder;
  make_study(folder / "norms", "norms");
  const auto shown = [&] { return exhibit_of(make_document(find_runs({folder.path()})), "study-norms"); };
  for (
      const char* damaged :
      {R"([{"claim": 1}])",
       R"([{"claim": "c", "answer": null, "n": 3, "subject": "a", "other": "b"}])"}) {  // which the page cannot draw
    write_file(folder / "norms/verdicts.json", damaged);
    CHECK(has_problem(shown(), "verdicts.json is damaged"));
  }
  CHECK(shown()["charts"].size() == 1);
  std::filesystem::remove(folder / "norms/variants.csv");
  CHECK(has_problem(shown(), "variants.csv is missing: the study's runs have not all ended"));
  write_file(folder / "norms/study.json", "{");
  CHECK(find_runs({folder.path()}).unreadable[0].find("study.json: is damaged") != std::string::npos);
}

TEST_CASE("a link to a run or a study is followed, once, and one that leads back is not") {
  const TemporaryFolder folder, elsewhere;
  make_study(elsewhere / "norms", "norms");
  std::filesystem::create_directory_symlink(elsewhere / "norms", folder / "linked");
  std::filesystem::create_directory_symlink(folder.path(), folder / "back");
  CHECK(find_runs({folder.path()}).runs.size() == 1);
  make_study(folder / "own", "norms");
  std::filesystem::create_directory_symlink(folder / "own", folder / "again");
  CHECK(find_runs({folder.path()}).runs.size() == 2);
}

TEST_CASE("a folder that cannot be looked into is said, and the others are shown") {
  const TemporaryFolder folder;
  make_study(folder / "norms", "norms");
  std::filesystem::create_directory(folder / "hidden");
  std::filesystem::create_symlink("study.json", folder / "hidden/study.json");  // leads to itself
  const Findings found = find_runs({folder.path()});
  REQUIRE(found.unreadable.size() == 1);
  CHECK(found.unreadable[0].find("hidden/study.json") != std::string::npos);
  CHECK(exhibit_of(make_document(found), "study-norms")["charts"].size() == 1);
}

TEST_CASE("what guessing gives is drawn once beside the runs") {
  const TemporaryFolder folder;
  for (const std::string gain : {"1", "0.1"}) {
    const std::string path = folder / gain;
    make_run(path, "layer", "step,valid_error,chance_error\n50,0.7,0.9\n100,0.5,0.9\n");
    Json config = Json::parse(read_file(path + "/config.json"));
    config["experiment"] = "attentive-reader";
    config["settings"]["gain"] = gain;
    config["settings"]["epochs"] = 0;
    write_file(path + "/config.json", config.dump());
  }
  const Json shown = exhibit_of(make_document(find_runs({folder.path()})), "figure-2");
  const Json& curves = shown["charts"][0]["curves"];
  REQUIRE(curves.size() == 3);  // the file has no column of the second level
  CHECK(curves[0]["label"] == "layer norm, gain 0.1");
  CHECK(curves[2]["label"] == "a random entity");
  CHECK(curves[2]["y"] == Json({0.9, 0.9}));
  CHECK_FALSE(shown["runs"][0]["command"].get<std::string>().find("--gain 0.1") == std::string::npos);
  CHECK(shown["runs"][0]["command"].get<std::string>().find("--epochs") == std::string::npos);
}

TEST_CASE("a label has the same dash in every facet, as the legend has it once") {
  const TemporaryFolder folder;
  for (const auto& [name, data, gain] :
       {std::tuple("a", "A", "0.1"), std::tuple("b", "A", "1"), std::tuple("c", "B", "1")})
    make_run_of("attentive-reader", folder / name,
                {{"norm", "layer"}, {"preset", "paper"}, {"data", data}, {"seed", 1}, {"gain", gain}},
                "step,valid_error\n50,0.7\n100,0.5\n");
  const Json shown = exhibit_of(make_document(find_runs({folder.path()})), "figure-2");
  std::map<std::string, std::set<int>> dashes;
  for (const Json& chart : shown["charts"])
    for (const Json& curve : chart["curves"])
      dashes[curve["label"].get<std::string>()].insert(curve["dash"].get<int>());
  CHECK(dashes ==
        std::map<std::string, std::set<int>>{{"layer norm, gain 0.1", {0}}, {"layer norm, gain 1", {1}}});
}

TEST_CASE("curves of different data in one chart say which they are of") {
  const TemporaryFolder folder;
  make_run(folder / "a", "none", two_epochs);
  const auto labels = [&] {
    const Json shown = figure_6(folder.path());
    std::set<std::string> all;
    for (const Json& curve : shown["charts"][0]["curves"]) all.insert(curve["label"].get<std::string>());
    return all;
  };
  CHECK(labels() == std::set<std::string>{"baseline"});
  make_run(folder / "b", "layer", two_epochs, "data/mnist");
  CHECK(labels() == std::set<std::string>{"baseline (synthetic data)", "layer norm (data: data/mnist)"});
}

TEST_CASE("rows of one file become curves by norm and scale") {
  const TemporaryFolder folder;
  write_file(folder / "stability.csv",
             "norm,scale,step,hidden_norm,hidden_gradient_norm,summed_input_deviation\n"
             "none,0.5,1,1,2,3\nnone,0.5,2,4,5,6\nlayer,0.5,1,7,8,9\nlayer,2,1,7,inf,9\n");
  const Json shown = exhibit_of(make_document(find_runs({folder.path()})), "section-3-1");
  const Json& curves = shown["charts"][1]["curves"];
  REQUIRE(curves.size() == 3);
  CHECK(curves[0]["label"] == "baseline, weights × 0.5");
  CHECK(curves[0]["y"] == Json({2, 5}));
  CHECK(curves[2]["dash"] == 1);
  CHECK(curves[2]["y"] == Json::array({nullptr}));  // JSON has no infinity
  CHECK(shown["tables"][0]["rows"].size() == 3);
}

TEST_CASE("rows of one file become a table with verdicts") {
  const TemporaryFolder folder;
  write_file(folder / "invariance.csv",
             "scheme,transformation,magnitude,epsilon,change\n"
             "batch,weight matrix re-scaling,2,0,4e-16\nbatch,weight matrix re-scaling,2,1e-05,0.3\n"
             "batch,weight matrix re-scaling,10,0,2e-16\nlayer,dataset re-scaling,2,0,0.5\n");
  const Json tables = exhibit_of(make_document(find_runs({folder.path()})), "table-1")["tables"];
  REQUIRE(tables.size() == 4);  // the pairs, the paper's, and one for each epsilon
  CHECK(tables[2]["columns"] == Json({"weight matrix re-scaling", "dataset re-scaling"}));
  CHECK(tables[2]["rows"][0]["cells"] == Json({"yes, 4 × 10⁻¹⁶", ""}));
  CHECK(tables[2]["rows"][1]["cells"] == Json({"", "no, 0.5"}));
  CHECK(tables[2]["rows"][1]["norm"] == "layer");
  CHECK(tables[3]["rows"][0]["cells"] == Json({"no, 0.3"}));
}

TEST_CASE("of a training, the last update makes the point") {
  const TemporaryFolder folder;
  write_file(folder / "turning.csv",
             "optimizer,norm,scale,step,loss,length,degrees\n"
             "SGD,layer,0.5,0,2,1,9\nSGD,layer,0.5,1,2,1.5,8\nSGD,layer,1,0,2,2,7\nAdam,layer,1,0,2,2,3\n");
  const Json charts = exhibit_of(make_document(find_runs({folder.path()})), "section-5-2")["charts"];
  REQUIRE(charts.size() == 2);
  CHECK(charts[0]["title"] == "Angle, SGD");
  CHECK(charts[0]["curves"][0]["x"] == Json({1.5, 2}));
  CHECK(charts[0]["curves"][0]["y"] == Json({8, 7}));
}

TEST_CASE("a long curve is thinned and keeps both ends") {
  const TemporaryFolder folder;
  std::string metrics = "epoch,train_nll,test_error\n";
  for (int i = 1; i <= 10000; ++i) metrics += text(i, ',', 1.0 / i, ",0.1\n");
  make_run(folder / "long", "layer", metrics);
  const Json x = figure_6(folder.path())["charts"][0]["curves"][0]["x"];
  CHECK(x.size() < 1502);
  CHECK(x.front() == 1);
  CHECK(x.back() == 10000);
}

TEST_CASE("single updates become charts of their own, also before the first epoch is over") {
  const TemporaryFolder folder;
  make_run(folder / "a", "layer", "epoch,step,train_nll,test_error\n");
  write_file(folder / "a/steps.csv",
             "step,train_loss,gradient_norm,learning_rate\n1,2.3,1.5,0.001\n10,2.1,1.4,0.001\n");
  const Json charts = figure_6(folder.path())["charts"];
  REQUIRE(charts.size() == 2);
  CHECK(charts[0]["title"] == "Loss by update, batch size 128");
  CHECK(charts[0]["by_update"] == true);
  CHECK(charts[0]["curves"][0]["x"] == Json({1, 10}));
  CHECK(charts[0]["curves"][0]["y"] == Json({2.3, 2.1}));
  CHECK(charts[1]["curves"][0]["y"] == Json({1.5, 1.4}));
}

TEST_CASE("no text can leave its place in the page") {
  const TemporaryFolder folder;
  const std::string evil = "<script>alert(1)<!--";
  make_run(folder / evil, "layer", two_epochs, "</script><script>alert(2)</script>");
  make_run(folder / "\xff\xfe", "layer", two_epochs);  // no UTF-8
  const std::string page =
      fill_page("connect-src 'none' \"@DATA@\"", make_document(find_runs({folder.path()})), false);
  CHECK(page.find('<') == std::string::npos);
  CHECK(page.find("\\u003cscript>alert(1)") != std::string::npos);
  CHECK(page.starts_with("connect-src 'none'"));
  CHECK(fill_page("connect-src 'none' \"@DATA@\"", {}, true).starts_with("connect-src 'self'"));
  CHECK_THROWS_WITH_AS(fill_page("", {}, false), doctest::Contains("make report"), Error);
}

TEST_CASE("numbers are written for people") {
  CHECK(pretty(1.28e-7, 3) == "1.28 × 10⁻⁷");
  CHECK(pretty(0.013249, 3) == "0.0132");
  CHECK(pretty(1234, 3) == "1234");
  CHECK(pretty(-85000.4, 2) == "-85000");
  CHECK(pretty(2460000, 6) == "2.46 × 10⁶");
  CHECK(pretty(-3e120, 2) == "-3 × 10¹²⁰");
  CHECK(pretty(NAN, 3) == "–");
  CHECK(pretty(-INFINITY, 3) == "−∞");
}
