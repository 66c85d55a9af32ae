// What the report says of single runs: their command, badges and problems, and which folders are runs.

#include <cmath>
#include <filesystem>
#include <set>

#include "core/error.h"
#include "core/files/file.h"
#include "tests/temporary_folder.h"
#include "tests/tools/report/runs_folder.h"
#include "tools/report/exhibits/exhibits.h"
#include "tools/report/page.h"

using namespace lamina;
using namespace lamina::report_test;

TEST_CASE("a run becomes curves, numbers and the command that repeats it") {
  const TemporaryFolder folder;
  make_run(folder / "a", "layer", two_epochs, "my data");
  make_run(folder / "b", "none", two_epochs);
  make_run(folder / "c", "layer", two_epochs, "", "4");
  const Json shown = figure_6(folder.path());
  REQUIRE(shown["charts"].size() == 4);  // training and test, for two batch sizes
  const Json& curves = shown["charts"][0]["curves"];
  REQUIRE(curves.size() == 2);
  CHECK(curves[0]["label"] == "baseline (synthetic data)");  // which the other curve is not of
  CHECK(curves[1]["label"] == "layer norm (data: my data)");
  CHECK(curves[1]["norm"] == "layer");
  CHECK(curves[1]["x"] == Json({1, 2}));
  CHECK(curves[1]["y"] == Json({0.5, 0.25}));
  CHECK(shown["charts"][3]["title"] == "Test, batch size 4");
  CHECK(shown["tables"][0]["rows"][1]["label"] == "layer norm (data: my data), batch size 128");
  CHECK(shown["tables"][0]["rows"][1]["cells"] == Json({"2", "0.25", "2", "2", "2"}));
  CHECK(shown["runs"][0]["command"] ==
        "lamina mnist --norm layer --preset paper --data 'my data' --seed 1 --epochs 2 --batch 128 --lr "
        "0.001 --threads 2 "
        "--out " +
            folder.path() + "/a");
}

TEST_CASE("a run's command has no flag for what is none") {
  const TemporaryFolder folder;
  const Json settings{{"norm", "layer"}, {"record", 20}, {"smoke", 2}, {"embedding", 620}, {"hidden", 2400}};
  make_run_of("skip-thoughts", folder / "a", settings, "");
  Json config = Json::parse(read_file(folder / "a/config.json"));
  config["ranks"] = 4;
  write_file(folder / "a/config.json", config.dump());
  const auto command = exhibit_on(folder.path(), "table-3")["runs"][0]["command"].get<std::string>();
  CHECK(command.starts_with("LAMINA_SMOKE=2 mpirun -n 4 lamina skip-thoughts --norm layer"));
  CHECK(command.find(" --record every=20 ") != std::string::npos);
  CHECK(command.find("--smoke") == std::string::npos);
  CHECK(command.find("620") == std::string::npos);
  CHECK(command.find("2400") == std::string::npos);
}

TEST_CASE("a setting that follows from others in one experiment is a flag of another") {
  const TemporaryFolder folder;
  make_run_of("mnist", folder / "a", {{"norm", "layer"}, {"hidden", 24}, {"glimpses", 3}}, two_epochs);
  const auto command = figure_6(folder.path())["runs"][0]["command"].get<std::string>();
  CHECK(command.find("--hidden 24 --glimpses 3") != std::string::npos);
}

TEST_CASE("a run's command has no flag that is refused") {
  const TemporaryFolder folder;
  for (const std::string norm : {"batch", "layer"}) {
    make_run_of("convnet", folder.path(), {{"norm", norm}, {"train_on", 0}, {"sync_batch_norm", true}},
                two_epochs);
    const auto command = exhibit_on(folder.path(), "section-6-7")["runs"][0]["command"].get<std::string>();
    CHECK(command.find("--train-on") == std::string::npos);
    CHECK((command.find("--sync-batch-norm") != std::string::npos) == (norm == "batch"));
  }
}

TEST_CASE("the command of a run as long as --updates says names no epochs") {
  const TemporaryFolder folder;
  make_run_of("handwriting", folder / "a", {{"norm", "layer"}, {"epochs", 10}, {"updates", 2000}},
              "step,train_nll\n2000,1\n");
  const auto command = exhibit_on(folder.path(), "figure-5")["runs"][0]["command"].get<std::string>();
  CHECK(command.find(" --updates 2000") != std::string::npos);
  CHECK(command.find("--epochs") == std::string::npos);
}

TEST_CASE("the reader's command names the sentences of a passage only beside its data") {
  const TemporaryFolder folder;
  for (const std::string data : {"", "cnn"}) {
    make_run_of("attentive-reader", folder / "a", {{"norm", "layer"}, {"data", data}, {"sentences", 4}},
                "step,valid_error\n2,1\n");
    const auto command = exhibit_on(folder.path(), "figure-2")["runs"][0]["command"].get<std::string>();
    CHECK((command.find("--sentences 4") != std::string::npos) == !data.empty());
  }
}

TEST_CASE("badges say what is synthetic, reduced or unfinished") {
  const TemporaryFolder folder;
  make_run(folder / "a", "layer", two_epochs, "mnist");
  make_run(folder / "b", "none", two_epochs.substr(0, two_epochs.find("2,858")));
  const Json shown = figure_6(folder.path());
  CHECK(badges_of(shown["runs"][0]) == std::set<std::string>{"data: mnist", "2 of 60 epochs"});
  CHECK(badges_of(shown["runs"][1]) == std::set<std::string>{"synthetic data", "1 of 2 epochs so far"});
  CHECK(badges_of(shown) ==
        std::set<std::string>{"data from files, in part", "synthetic data, in part", "reduced, in part"});
  const Json reader{{"norm", "layer"}, {"epochs", 0}, {"updates", 1000}};
  make_run_of("attentive-reader", folder / "c", reader, "step,valid_error\n100,0.5\n");
  CHECK(badges_of(exhibit_on(folder.path(), "figure-2")["runs"][0]) ==
        std::set<std::string>{"synthetic data", "100 of 1000 updates so far"});
}

TEST_CASE("a run that counts updates and was asked for epochs is seen to be unfinished") {
  const TemporaryFolder folder;
  for (const auto& [epochs, smoke] : {std::pair{2, 0}, {3, 0}, {3, 3}}) {
    const Json settings{{"norm", "layer"}, {"epochs", epochs}, {"updates", 0}, {"smoke", smoke}};
    make_run_of("transformer", folder.path(), settings, "validation,step,epoch,valid_bits\n1,100,2,4\n");
    const std::set<std::string> badges = badges_of(exhibit_on(folder.path(), "transformer")["runs"][0]);
    CHECK(badges.contains("2 of 3 epochs so far") == (epochs == 3));
  }
}

TEST_CASE("a folder of variants is no run, also with a slash behind it") {
  const TemporaryFolder folder;
  make_run_of("mnist", folder.path(), {{"norm", "layer"}}, "");
  make_run(folder / "a", "layer", two_epochs);
  make_run(folder / "b", "none", two_epochs);
  for (const std::string behind : {"", "/"}) CHECK(figure_6(folder.path() + behind)["runs"].size() == 2);
}

TEST_CASE("badges say what part of the data a kept run was trained on") {
  const TemporaryFolder folder;
  const auto write_study = [&](int smoke) {
    write_file(folder / "study.json",
               text(R"({"study": "digits", "experiment": "mnist", "threads": 1, "smoke": )", smoke,
                    R"(, "settings": {"data": "mnist", "train-on": 1000, "epochs": 60, "batch": 128},
                       "combinations": {"layer": {"norm": "layer"}}})"));
  };
  write_study(0);
  write_file(folder / "numbers.json", R"({"data": ["MNIST"], "runs": {"layer-seed1": {"outcome": "finished",
      "data": 0, "curves": {"epoch": [60], "step": [1200], "train_nll": [0.1], "test_error": [0.1]}}}})");
  const Json shown = figure_6(folder.path());
  CHECK(badges_of(shown["runs"][0]) == std::set<std::string>{"data: mnist", "trained on 1000 alone"});
  CHECK(shown["runs"][0]["command"].get<std::string>().find("--train-on 1000") != std::string::npos);
  write_study(60);
  CHECK(badges_of(figure_6(folder.path())["runs"][0]) ==
        std::set<std::string>{"data: mnist", "cut down by LAMINA_SMOKE=60"});
}

TEST_CASE("two runs of one variant are told apart") {
  const TemporaryFolder folder;
  make_run(folder / "a", "layer", two_epochs);
  make_run(folder / "b", "layer", two_epochs);
  const Json curves = figure_6(folder.path())["charts"][0]["curves"];
  CHECK(curves[0]["label"] == "layer norm (" + folder.path() + "/a)");
  CHECK(curves[1]["label"] == "layer norm (" + folder.path() + "/b)");
  CHECK(curves[0]["dash"] == 0);
  CHECK(curves[1]["dash"] == 1);
}

TEST_CASE("what is missing of a run is said, and the rest is shown") {
  const TemporaryFolder folder;
  make_run(folder / "none", "none", "");
  CHECK(has_problem(figure_6(folder.path()), "metrics.csv is missing"));
  make_run(folder / "half", "batch", two_epochs + "3,12");  // being written
  const Json half = figure_6(folder / "half");
  CHECK(half["charts"][0]["curves"][0]["x"] == Json({1, 2}));
  CHECK(half["runs"][0]["problems"].empty());
  make_run(folder / "broken", "layer", two_epochs + "3,1287\n4,1716,0.1,0.01\n");
  CHECK(has_problem(figure_6(folder / "broken"), "broken in line 4"));
  CHECK(figure_6(folder / "broken")["charts"][0]["curves"][0]["x"] == Json({1, 2}));
  make_run(folder / "other", "layer", "epoch,train_nll\n1,nan\n2,x\n");
  const Json other = figure_6(folder / "other");
  CHECK(has_problem(other, "no column test_error, which the page would show"));
  REQUIRE(other["charts"].size() == 1);
  CHECK(other["charts"][0]["curves"][0]["y"] == Json::array({nullptr, nullptr}));
  make_run(folder / "empty", "layer", "\n");
  CHECK(has_problem(figure_6(folder / "empty"), "has no rows yet"));
  write_file(folder / "none/config.json", "{\"experiment\": ");
  const Json document = make_document(find_runs({folder / "none"}));
  CHECK(document["leftovers"][0].get<std::string>().find("is damaged") != std::string::npos);
  CHECK_THROWS_WITH_AS(find_runs({folder / "nowhere"}), doctest::Contains("is not a folder"), DataError);
}

TEST_CASE("a folder that only holds the variants' runs is not a run itself") {
  const TemporaryFolder folder;
  make_run(folder / "all", "none,layer", "");
  make_run(folder / "all/layer-b128", "layer", two_epochs);
  const Json shown = figure_6(folder.path());
  REQUIRE(shown["runs"].size() == 1);
  CHECK(shown["runs"][0]["path"] == folder / "all/layer-b128");
}
