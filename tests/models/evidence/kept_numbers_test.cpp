// What a study measured, from the folders of its runs and from numbers.json alone.

#include "models/evidence/kept_numbers.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "core/error.h"
#include "core/files/file.h"
#include "tests/temporary_folder.h"

using namespace lamina;

namespace {

const Study two_seeds =
    study_from("s.json", R"({"experiment": "mnist", "seeds": [1, 2], "metrics": ["loss", "input.turned"]})");

/// A run of `two_seeds` as its process would leave it.
void make_run(const std::string& folder, RunEnd::Outcome outcome = RunEnd::finished) {
  std::filesystem::create_directories(folder);
  write_file(folder + "/config.json",
             R"({"experiment": "mnist", "variant": "layer", "settings": {"preset": "small"},
                 "lamina": "0.1.0", "scalar": "float", "threads": 1, "backend": ""})");
  write_file(folder + "/metrics.csv", "epoch,step,loss\n1,10,0.1\n2,20,nan\n3,30,0.05\n");
  write_file(folder + "/test.csv", "epoch,test_error\n3,0.25\n");
  write_file(
      folder + "/record.csv",
      "step,layer,quantity,time,value\n1,a,input.turned,1,0.5\n1,b,input.turned,1,1\n1,a,input.mean,1,7\n"
      "11,a,input.turned,1,nan\n11,b,input.turned,1,2\n");
  write_end(folder, {.outcome = outcome,
                     .reason = outcome == RunEnd::diverged ? "loss, \"nan\"" : "",
                     .data = "digits",
                     .peak_bytes = 123456789,
                     .rows = 3});
}

}  // namespace

TEST_CASE("of a record, a study has the means of what it looks at") {
  const TemporaryFolder folder;
  make_run(folder / "run-seed1");
  const MeasuredRun run = measured_runs(two_seeds, folder.path())[0];
  CHECK(run.recorded.columns == std::vector<std::string>{"step", "input.turned"});
  CHECK(run.values("input.turned") == std::vector<double>{0.75, 2});
  CHECK(run.values("test_error") == std::vector<double>{0.25});
  CHECK(run.values("nothing").empty());
  CHECK(taken(run, "input.turned", {}, two_seeds) == 2);
  CHECK(metrics_of({run}) == std::vector<std::string>{"loss", "input.turned", "test_error"});
}

TEST_CASE(
    "of a record, a layer with many time steps weighs as much as any other, after the updates made until "
    "then") {
  const TemporaryFolder folder;
  make_run(folder / "run-seed1");
  write_file(folder / "run-seed1/record.csv",
             "step,layer,quantity,time,value\n1,a,input.turned,1,1\n1,b,input.turned,1,4\n"
             "1,b,input.turned,2,nan\n1,b,input.turned,3,6\n1,c,input.turned,1,nan\n"
             "11,a,input.turned,1,3\n11,c,input.turned,1,nan\n21,c,input.turned,1,nan\n");
  const MeasuredRun run = measured_runs(two_seeds, folder.path())[0];
  CHECK(run.recorded.column("step") == std::vector<double>{0, 10, 20});
  CHECK(run.values("input.turned")[0] == 3);  // (1 + (4 + 6) / 2) / 2
  CHECK(run.values("input.turned")[1] == 3);
  CHECK(std::isnan(run.values("input.turned")[2]));
  // The model of metrics.csv's best row, after 10 updates, is the one that record step 11 looks at.
  const Study study = study_from("s.json", R"({"experiment": "mnist", "metrics": ["loss", "input.turned"]})");
  write_file(folder / "run-seed1/metrics.csv", "epoch,step,loss\n1,10,0.1\n2,20,0.2\n3,30,0.3\n");
  const MeasuredRun best_early = measured_runs(two_seeds, folder.path())[0];
  CHECK(taken(best_early, "input.turned", Take::from("where loss is best"), study) == 3);
}

TEST_CASE("numbers.json stands in for the folders of runs") {
  const TemporaryFolder folder, copy;
  make_run(folder / "run-seed1");
  make_run(folder / "run-seed2", RunEnd::diverged);
  const auto runs = measured_runs(two_seeds, folder.path());
  const std::string numbers = numbers_of(runs);
  write_file(copy / numbers_file, numbers);
  const auto again = measured_runs(two_seeds, copy.path());
  REQUIRE(again.size() == 2);
  for (const size_t i : {size_t{0}, size_t{1}}) {
    CHECK(again[i].run.name == runs[i].run.name);
    CHECK(again[i].run.seed == runs[i].run.seed);
    CHECK(again[i].end.outcome == runs[i].end.outcome);
    CHECK(again[i].end.reason == runs[i].end.reason);
    CHECK(again[i].end.peak_bytes == 123456789);
    CHECK(again[i].data == "digits; preset small");
    CHECK(again[i].curves.columns == runs[i].curves.columns);
    CHECK(again[i].values("loss")[2] == 0.05);
    CHECK(std::isnan(again[i].values("loss")[1]));
    CHECK(again[i].values("input.turned") == std::vector<double>{0.75, 2});
  }
  CHECK(numbers_of(again) == numbers);

  make_run(copy / "run-seed2");  // trained again since
  CHECK(measured_runs(two_seeds, copy.path())[1].end.outcome == RunEnd::finished);
}

TEST_CASE("numbers.json has the runs that ended, and nothing of others") {
  const TemporaryFolder folder;
  make_run(folder / "run-seed1");
  make_run(folder / "run-seed2", RunEnd::failed);
  write_file(folder / numbers_file, numbers_of(measured_runs(two_seeds, folder.path())));
  const KeptNumbers kept = kept_numbers(folder.path());
  CHECK(kept.size() == 1);
  CHECK(kept.contains("run-seed1"));
  CHECK(kept_numbers(folder / "nowhere").empty());
}

TEST_CASE("a run with a damaged file has failed, and the others are read") {
  for (const char* const name : {"config.json", "metrics.csv", "outcome.json"}) {
    CAPTURE(std::string(name));
    const TemporaryFolder folder;
    make_run(folder / "run-seed1");
    make_run(folder / "run-seed2");
    const std::string file = folder / "run-seed1/" + name;
    write_file(file, "{}\n,\n");
    const auto runs = measured_runs(two_seeds, folder.path());
    CHECK(runs[0].end.outcome == RunEnd::failed);
    CHECK(runs[0].end.damaged);
    CHECK(runs[0].end.reason.starts_with(file + ": "));
    CHECK(runs[1].end.outcome == RunEnd::finished);
  }
}

TEST_CASE(
    "a finished run whose metrics.csv has lost its end is damaged, and does not count with an earlier row") {
  const TemporaryFolder folder;
  make_run(folder / "run-seed1");
  const std::string file = folder / "run-seed1/metrics.csv";
  for (const std::string_view rest :
       {"epoch,step,loss\n1,10,0.1\n2,20,nan\n", "epoch,step,loss\n1,10,0.1\n2,20,nan\n3,30,0.05"}) {
    write_file(file, rest);
    const MeasuredRun run = measured_runs(two_seeds, folder.path())[0];
    CHECK(run.end.outcome == RunEnd::failed);
    CHECK(run.end.damaged);
    CHECK(run.end.reason ==
          file +
              ": has 2 of its 3 rows; restore it, or remove outcome.json beside it, and the study restores "
              "it from the run's state");
  }
  // What an earlier version has written says nothing of rows.
  write_file(folder / "run-seed1/outcome.json",
             R"({"outcome": "finished", "reason": "", "data": "digits", "peak_bytes": 1})");
  CHECK(measured_runs(two_seeds, folder.path())[0].end.outcome == RunEnd::finished);
}

TEST_CASE("a numbers.json that cannot be read is not called damaged") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / numbers_file);
  const std::string problem = message_of<DataError>([&] { kept_numbers(folder.path()); });
  CHECK(problem.starts_with(folder / numbers_file + ": "));
  CHECK(problem.find("damaged") == std::string::npos);
}

TEST_CASE("a damaged numbers.json is said") {
  const TemporaryFolder folder;
  for (const char* const content :
       {"{", "{}", R"({"data": [], "runs": {"a": {"outcome": "finished", "data": 0}}})",
        R"({"data": [], "runs": {"a": {"outcome": "won"}}})",
        R"({"data": [], "runs": {"a": {"outcome": "finished", "data": -1}}})",
        R"({"data": [], "runs": {"a": {"outcome": "finished", "curves": {"step": [1, 2], "loss": [1]}}}})",
        R"({"data": [], "runs": {"a": {"outcome": "finished", "curves": {"step": ["x"]}}}})"}) {
    CAPTURE(std::string(content));
    write_file(folder / numbers_file, content);
    CHECK_THROWS_WITH_AS(kept_numbers(folder.path()), doctest::Contains("numbers.json: is damaged"),
                         DataError);
  }
}
