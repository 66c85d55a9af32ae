// Runs that only their seeds tell apart are one curve, whether their folders are there or only a study's numbers.

#include "core/error.h"
#include "tests/temporary_folder.h"
#include "tests/tools/report/runs_folder.h"

using namespace lamina;
using namespace lamina::report_test;

namespace {

void make_seed(const std::string& folder, int seed, double error, double lr = 0.001) {
  make_run_of(
      "mnist", folder,
      {{"norm", "layer"}, {"data", "mnist"}, {"seed", seed}, {"batch", "128"}, {"epochs", 2}, {"lr", lr}},
      text("epoch,step,train_nll,test_error\n1,429,0.5,", error, "\n2,858,0.25,", error / 2, '\n'));
}

}  // namespace

TEST_CASE("runs of equal settings become the median of their seeds in its range") {
  const TemporaryFolder folder;
  for (const int seed : {1, 2, 3}) make_seed(text(folder.path(), "/seed", seed), seed, 0.01 * seed);
  const Json shown = exhibit_on(folder.path(), "figure-6");
  const Json& curves = shown["charts"][1]["curves"];
  REQUIRE(curves.size() == 1);
  CHECK(curves[0]["label"] == "layer norm, 3 seeds");
  CHECK(curves[0]["y"] == Json({0.02, 0.01}));
  CHECK(curves[0]["low"] == Json({0.01, 0.005}));
  CHECK(curves[0]["high"] == Json({0.03, 0.015}));
  CHECK(shown["tables"][0]["rows"].size() == 1);
  CHECK(shown["tables"][0]["rows"][0]["cells"][2] == "1 (0.5 to 1.5)");
  CHECK(shown["runs"].size() == 3);
}

TEST_CASE("a seed of several ranks, of the other scalar type or of another version is another run") {
  const TemporaryFolder folder;
  for (const int seed : {1, 2}) make_seed(text(folder.path(), "/seed", seed), seed, 0.01 * seed);
  const Json made = Json::parse(read_file(folder / "seed2/config.json"));
  const auto curves_with = [&](const Json& other) {
    Json config = made;
    config.update(other);
    write_file(folder / "seed2/config.json", config.dump());
    return exhibit_on(folder.path(), "figure-6")["charts"][1]["curves"].size();
  };
  CHECK(curves_with({{"threads", 7}}) == 1);
  CHECK(curves_with({{"ranks", 4}}) == 2);  // its batch norm is another
  CHECK(curves_with({{"scalar", "double"}}) == 2);
  CHECK(curves_with({{"lamina", "0.0.9"}}) == 2);
}

TEST_CASE("a seed on other files is another run, where it says which") {
  const TemporaryFolder folder;
  for (const int seed : {1, 2}) make_seed(text(folder.path(), "/seed", seed), seed, 0.01 * seed);
  const auto curves_with = [&](const std::string& digest) {
    write_file(folder / "seed2/data.txt", "mnist\n" + digest + '\n');
    return exhibit_on(folder.path(), "figure-6")["charts"][1]["curves"].size();
  };
  write_file(folder / "seed1/data.txt", "mnist\n1a2b\n");
  CHECK(curves_with("1a2b") == 1);
  CHECK(curves_with("3c4d") == 2);
  CHECK(curves_with("") == 1);  // as the oldest runs
}

TEST_CASE("a seed that is still trained is in no median of those that ended") {
  const TemporaryFolder folder;
  for (const int seed : {1, 2}) make_seed(text(folder.path(), "/seed", seed), seed, 0.01 * seed);
  const auto cell = [&] { return exhibit_on(folder.path(), "figure-6")["tables"][0]["rows"][0]["cells"][2]; };
  CHECK(cell() == "0.75 (0.5 to 1)");
  const auto only_first_epoch = [&](const char* seed) {
    write_file(folder / seed + "/metrics.csv", "epoch,step,train_nll,test_error\n1,429,0.5,0.09\n");
  };
  only_first_epoch("seed2");
  CHECK(cell() == "0.5, 1 of 2, 1 unfinished");
  only_first_epoch("seed1");
  CHECK(cell() == "9");  // nothing has ended yet, which the runs' badges say
}

TEST_CASE("a seed without a number is counted, not left out") {
  const TemporaryFolder folder;
  make_seed(folder / "a", 1, 0.02);
  make_run_of(
      "mnist", folder / "b",
      {{"norm", "layer"}, {"data", "mnist"}, {"seed", 2}, {"batch", "128"}, {"epochs", 2}, {"lr", 0.001}},
      "epoch,step,train_nll,test_error\n1,429,nan,nan\n2,858,nan,nan\n");
  CHECK(exhibit_on(folder.path(), "figure-6")["tables"][0]["rows"][0]["cells"][2] == "1, 1 of 2");
}

TEST_CASE("a run that diverged has no number, and is counted") {
  const TemporaryFolder folder;
  make_seed(folder / "a", 1, 0.02);
  make_seed(folder / "b", 2, 0.04);
  make_seed(folder / "c", 3, 0.04, 0.5);
  for (const char* const name : {"b", "c"})
    write_file(folder / name + "/diverged.txt", "the loss is nan in step 900\n");
  const Json shown = exhibit_on(folder.path(), "figure-6");
  const Json& rows = shown["tables"][0]["rows"];
  CHECK(rows[0]["cells"][2] == "1, 1 of 2, 1 diverged");
  CHECK(rows[1]["cells"][2] == "diverged");
  CHECK(shown["runs"][1]["badges"].back()["text"] == "diverged");
  CHECK(shown["runs"][1]["problems"][0] == "diverged: the loss is nan in step 900");
  CHECK(shown["runs"][0]["problems"].empty());
}

TEST_CASE("the median of seeds does not forget those that diverged") {
  const TemporaryFolder root;
  const auto curve = [&](const char* experiment, const char* exhibit, const std::string& column) {
    for (const int seed : {1, 2, 3}) {
      const std::string folder = text(root.path(), '/', experiment, seed);
      make_run_of(
          experiment, folder, {{"norm", "layer"}, {"seed", seed}, {"data", "files"}},
          text("epoch,step,", column, "\n1,10,", seed, seed == 3 ? "\n" : text("\n2,20,", seed, '\n')));
      if (seed == 3) write_file(folder + "/diverged.txt", "the loss is nan in step 15\n");
    }
    return exhibit_on(root.path(), exhibit)["charts"][0]["curves"][0]["y"];
  };
  CHECK(curve("mnist", "figure-6", "train_nll") == Json({2, 2}));  // not 1.5
  CHECK(curve("order-embedding", "figure-1", "valid_image_r1") == Json({2, 1}));
}

TEST_CASE("a run that diverged before its first row is not forgotten") {
  const TemporaryFolder root;
  const auto make_all = [&](const char* experiment, const std::string& file, const std::string& header,
                            const std::string& row) {
    for (const int seed : {1, 2, 3}) {
      const std::string folder = text(root.path(), '/', experiment, seed);
      const Json settings{{"norm", "layer"}, {"seed", seed}, {"data", "files"}, {"score", "order"}};
      make_run_of(experiment, folder, settings, header);
      write_file(folder + '/' + file, seed == 1 ? header : text(header, row, seed, '\n'));
      if (seed == 1) write_file(folder + "/diverged.txt", "the loss is nan in step 3\n");
    }
  };
  make_all("mnist", "metrics.csv", "epoch,step,train_nll\n", "1,10,");
  const Json digits = exhibit_on(root.path(), "figure-6");
  CHECK(digits["charts"][0]["curves"][0]["label"] == "layer norm, 3 seeds");
  CHECK(digits["charts"][0]["curves"][0]["y"] == Json{3});  // of 2, 3 and what diverged, which is the worst
  CHECK(digits["tables"][0]["rows"][0]["cells"][1] == "2.5 (2 to 3), 2 of 3, 1 diverged");
  make_all("order-embedding", "test.csv", "epoch,test_caption_r1\n", "1,");
  std::filesystem::remove(root / "order-embedding1/test.csv");
  const Json table = exhibit_on(root.path(), "table-2")["tables"][1];
  CHECK(table["rows"].back()["cells"][0] == "2.5 (2 to 3), 2 of 3, 1 diverged");
  CHECK(exhibit_on(root / "mnist1", "figure-6")["tables"][0]["rows"][0]["cells"][1] == "diverged");
  CHECK(exhibit_on(root / "mnist1", "figure-6")["charts"].empty());
}

TEST_CASE("a training that diverged takes nothing from the levels of its data") {
  const TemporaryFolder root;
  for (const int seed : {1, 2}) {
    make_run_of("attentive-reader", root / text(seed), {{"norm", "layer"}, {"seed", seed}},
                text("step,valid_error,chance_error\n1,0.5,0.8\n", seed == 1 ? "" : "2,0.5,0.8\n"));
    if (seed == 1) write_file(root / "1/diverged.txt", "the loss is nan in step 2\n");
  }
  const Json curves = exhibit_on(root.path(), "figure-2")["charts"][0]["curves"];
  REQUIRE(curves.size() == 2);
  CHECK(curves[0]["x"] == Json{1});
  CHECK(curves[1]["label"] == "a random entity");
  CHECK(curves[1]["y"] == Json({0.8, 0.8}));
}

TEST_CASE("a measure of which no seed has a number is a curve without points") {
  const TemporaryFolder root;
  for (const int seed : {1, 2})
    make_run_of("mnist", root / text("seed", seed), {{"norm", "layer"}, {"seed", seed}, {"batch", 128}},
                "epoch,step,train_nll,test_error\n1,10,0.5,nan\n2,20,0.4,nan\n");
  const Json charts = exhibit_on(root.path(), "figure-6")["charts"];
  REQUIRE(charts.size() == 2);
  CHECK(charts[0]["curves"][0]["y"] == Json{0.5, 0.4});
  CHECK(charts[1]["curves"][0]["x"] == Json::array());
  CHECK(charts[1]["curves"][0]["y"] == Json::array());
}

TEST_CASE("other settings, or the same seed, are curves of their own") {
  const TemporaryFolder folder;
  make_seed(folder / "a", 1, 0.01);
  make_seed(folder / "b", 2, 0.02, 0.01);
  make_seed(folder / "c", 1, 0.03);
  const Json curves = exhibit_on(folder.path(), "figure-6")["charts"][0]["curves"];
  REQUIRE(curves.size() == 3);
  for (const Json& curve : curves) CHECK_FALSE(curve.contains("low"));
}

TEST_CASE("a study that keeps only its numbers shows its runs") {
  const TemporaryFolder folder;
  write_file(
      folder / "study.json",
      R"({"study": "own", "experiment": "mnist", "settings": {"data": "mnist", "epochs": 2, "batch": 128},
                 "threads": 1, "combinations": {"none": {"norm": "none"}, "layer": {"norm": "layer"}}})");
  const std::string run =
      R"({"outcome": "finished", "data": 0, "curves": {"epoch": [1, 2], "train_nll": [0.5, 0.2], "test_error": [0.03, 0.02]}})";
  write_file(folder / "numbers.json",
             R"({"data": ["MNIST"], "runs": {"none-seed1": )" + run + R"(, "layer-seed1": )" + run +
                 R"(, "layer-seed2": {"outcome": "diverged", "reason": "the loss is inf", )" +
                 run.substr(run.find("\"data\"")) + "}}");
  const Json shown = exhibit_on(folder.path(), "figure-6");
  REQUIRE(shown["charts"].size() == 2);
  CHECK(shown["charts"][0]["curves"][0]["label"] == "baseline");
  CHECK(shown["charts"][0]["curves"][1]["label"] == "layer norm, 2 seeds");
  REQUIRE(shown["runs"].size() == 3);
  CHECK(shown["runs"][0]["command"].get<std::string>().starts_with("lamina mnist --data mnist --epochs 2"));
  CHECK(shown["tables"][0]["rows"][1]["cells"][2] == "2, 1 of 2, 1 diverged");

  std::filesystem::create_directories(folder /
                                      "none-seed1");  // this one has a folder, with nothing in it yet
  CHECK(exhibit_on(folder.path(), "figure-6")["runs"].size() == 2);
  write_file(folder / "numbers.json", R"({"data": [], "runs": {"layer": )" + run + "}}");
  CHECK(find_runs({folder.path()}).unreadable.size() == 1);
}
