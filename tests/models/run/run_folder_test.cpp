#include "models/run/run_folder.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/file.h"
#include "core/gemm/gemm.h"
#include "core/real.h"
#include "core/threads/parallel.h"
#include "core/version.h"

using namespace lamina;
namespace fs = std::filesystem;

namespace {

/// Makes a new folder the current one; restores the current folder and removes the new one at the end of the
/// test.
struct Scratch {
  fs::path before = fs::current_path();
  fs::path path = fs::temp_directory_path() / ("lamina-runs-" + std::to_string(getpid()));
  Scratch() {
    fs::create_directories(path);
    fs::current_path(path);
  }
  ~Scratch() {
    fs::current_path(before);
    fs::remove_all(path);
  }
};

RunConfig example() {
  RunConfig config = {.experiment = "mnist", .variant = "layer", .backend = "OpenBLAS 0.3.21 openmp"};
  config.settings.set("norm", "layer");
  config.settings.set("seed", std::uint64_t{1} << 53);
  config.settings.set("lr", 1.0 / 3);
  config.settings.set("decay", 1.0);
  config.settings.set("clip", false);
  config.settings.set("data", std::string("a \"b\" \\ c"));
  config.settings.set("seed", 42);
  return config;
}

}  // namespace

TEST_CASE("a run's config reads back as it was") {
  const Scratch scratch;
  Settings settings;
  {
    const RunFolder made = RunFolder::create("deep/er/run", example());
    CHECK(made.file("metrics.csv") == "deep/er/run/metrics.csv");
    settings = made.config().settings;
  }
  const RunFolder opened = RunFolder::resume("deep/er/run", "mnist");
  CHECK(opened.config().settings == settings);
  CHECK(opened.config().experiment == "mnist");
  CHECK(opened.config().variant == "layer");
  CHECK(opened.config().backend == "OpenBLAS 0.3.21 openmp");
  CHECK(opened.config().version == version);
  CHECK(opened.config().commit == commit());
  CHECK(opened.config().scalar == (sizeof(real) == 8 ? "double" : "float"));
  CHECK(opened.config().threads == threads());
}

TEST_CASE("a run says which programs trained it, one after another") {
  const Scratch scratch;
  const std::string path = RunFolder::create("run", {.experiment = "own"}).path(), own = commit();
  const auto began = [&](const std::string& others) {
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(read_file("run/config.json"));
    json["commit"] = others;
    if (others.empty()) json.erase("commit");
    write_file("run/config.json", json.dump(2) + '\n');
    return RunFolder::open(path);
  };
  const auto noted = [&] { return RunFolder::open(path).config().commit; };
  note_commit(began("1a2b3c4"), /*from_first_update=*/false);
  CHECK(noted() == "1a2b3c4, " + own);
  const std::string bytes = read_file("run/config.json");
  note_commit(RunFolder::open(path), /*from_first_update=*/false);
  CHECK(read_file("run/config.json") == bytes);
  note_commit(began("1a2b3c4"), /*from_first_update=*/true);  // nothing of what that one trained was saved
  CHECK(noted() == own);
  note_commit(began(""), /*from_first_update=*/false);
  CHECK(noted().empty());  // it is not known which began
}

TEST_CASE("a run that names no kernels is said to use those of the library") {
  const Scratch scratch;
  CHECK(RunFolder::create("run", {.experiment = "own"}).config().backend == gemm_backend());
  CHECK(RunFolder::open("run").config().backend == gemm_backend());
}

TEST_CASE("settings keep their kind and their order") {
  const Scratch scratch;
  RunFolder::create("run", example());
  const Settings settings = RunFolder::resume("run", "mnist").config().settings;
  CHECK(settings.entries()[1].first == "seed");
  CHECK(settings.get<std::int64_t>("seed") == 42);
  CHECK(settings.get<double>("seed") == 42.0);
  CHECK(settings.get<double>("lr") == 1.0 / 3);
  CHECK(settings.get<double>("decay") == 1.0);
  CHECK(settings.get<bool>("clip") == false);
  CHECK(settings.get<std::string>("data") == "a \"b\" \\ c");
  CHECK(settings.has("norm"));
  CHECK_FALSE(settings.has("momentum"));
  CHECK_THROWS_WITH_AS(settings.get<bool>("momentum"), doctest::Contains("no setting 'momentum'"), DataError);
  CHECK_THROWS_WITH_AS(settings.get<bool>("norm"), doctest::Contains("'norm' is of another kind"), DataError);
}

TEST_CASE("settings that config.json cannot hold are refused") {
  Settings settings;
  settings.set("clip", std::nan(""));
  CHECK_THROWS_WITH_AS(
      settings.set("clip", INFINITY),
      "settings: 'clip' is inf, which config.json cannot hold; a finite number is needed, an integer "
      "below 2^63",
      Error);
  CHECK_THROWS_WITH_AS(settings.set("clip", -INFINITY), doctest::Contains("'clip' is -inf"), Error);
  CHECK_THROWS_WITH_AS(settings.set("seed", std::uint64_t{1} << 63),
                       doctest::Contains("'seed' is 9223372036854775808"), Error);
  settings.set("seed", (std::uint64_t{1} << 63) - 1);
  CHECK(settings.entries().size() == 2);
}

TEST_CASE("runs without --out are numbered") {
  const Scratch scratch;
  CHECK(RunFolder::create("", example()).path() == "runs/mnist-layer");
  CHECK(RunFolder::create("", example()).path() == "runs/mnist-layer-2");
  CHECK(RunFolder::create("", example()).path() == "runs/mnist-layer-3");
  CHECK(RunFolder::create("", {.experiment = "draw"}).path() == "runs/draw");
}

TEST_CASE("an existing run is never overwritten") {
  const Scratch scratch;
  RunFolder::create("run", example());
  CHECK_THROWS_WITH_AS(RunFolder::create("run", example()), doctest::Contains("add --resume"), UsageError);
  fs::create_directory("empty");
  CHECK_NOTHROW(RunFolder::create("empty", example()));
}

TEST_CASE("a run without its config.json can neither be resumed nor replaced, and the error says so") {
  const Scratch scratch;
  fs::create_directory("run");
  write_file("run/state", "learned");
  CHECK_THROWS_WITH_AS(RunFolder::create("run", example()),
                       "--out run: holds a run whose config.json is missing; restore that file, or move the "
                       "folder away",
                       UsageError);
}

TEST_CASE("a run does not replace somebody's files, nor begin with what another one left") {
  const Scratch scratch;
  fs::create_directory("mine");
  write_file("mine/notes.txt", "mine");
  for (const std::string name : {"vocabulary.txt", "best.safetensors", "snapshot-0.safetensors", "test.csv",
                                 "summary.md", "diverged.txt", "events.out.tfevents.lamina"}) {
    CAPTURE(name);
    write_file("mine/" + name, "mine");
    CHECK_THROWS_WITH_AS(
        RunFolder::create("mine", example()),
        ("--out mine: holds " + name + ", which the run could replace; name another folder, or move it away")
            .c_str(),
        UsageError);
    CHECK(read_file("mine/" + name) == "mine");
    fs::remove("mine/" + name);
  }
  CHECK_NOTHROW(RunFolder::create("mine", example()));
  CHECK(read_file("mine/notes.txt") == "mine");
}

TEST_CASE("a run does not begin in the folder of a study") {
  const Scratch scratch;
  fs::create_directory("study");
  write_file("study/study.json", "{}");
  CHECK_THROWS_WITH_AS(RunFolder::create("study", example()),
                       "--out study: holds a study; name another folder", UsageError);
}

TEST_CASE("a folder that cannot be made is a DataError") {
  const Scratch scratch;
  std::ofstream("file") << "in the way";
  CHECK_THROWS_WITH_AS(RunFolder::create("file", example()), doctest::Contains("--out"), DataError);
  CHECK_THROWS_AS(RunFolder::create("file/below", example()), DataError);
  CHECK_THROWS_AS(RunFolder::create("/proc/run", example()), DataError);
}

TEST_CASE("resuming says what is missing or broken") {
  const Scratch scratch;
  CHECK_THROWS_WITH_AS(RunFolder::resume("", "mnist"), doctest::Contains("--resume --out"), UsageError);
  CHECK_THROWS_WITH_AS(RunFolder::resume("nowhere", "mnist"),
                       doctest::Contains("nowhere/config.json: does not exist"), DataError);
  const RunFolder run = RunFolder::create("run", example());
  const std::string whole = read_file(run.file("config.json"));
  write_file(run.file("config.json"), whole.substr(0, whole.size() / 2));
  CHECK_THROWS_WITH_AS(RunFolder::resume("run", "mnist"), doctest::Contains("is damaged"), DataError);
  write_file(run.file("config.json"), "{}");
  CHECK_THROWS_WITH_AS(RunFolder::resume("run", "mnist"), doctest::Contains("is damaged"), DataError);
  const std::string scalar = sizeof(real) == 8 ? "double" : "float",
                    other = sizeof(real) == 8 ? "float" : "double";
  std::string foreign = whole;
  foreign.replace(foreign.find('"' + scalar + '"'), scalar.size() + 2, '"' + other + '"');
  write_file(run.file("config.json"), foreign);
  CHECK_THROWS_WITH_AS(RunFolder::resume("run", "mnist"), doctest::Contains("make REAL="), DataError);
}

TEST_CASE("a run is resumed by its own experiment only, and nothing in its folder changes") {
  const Scratch scratch;
  RunFolder::create("run", example());
  CHECK_THROWS_WITH_AS(RunFolder::resume("run", "convnet"),
                       "run/config.json: is of a run of lamina mnist; resume it with that command",
                       UsageError);
  CHECK(std::distance(fs::directory_iterator("run"), {}) == 1);
}

TEST_CASE("unfinished files of a killed process go when its run is resumed") {
  const Scratch scratch;
  RunFolder::create("run", example());
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);  // its process id is free now
  const std::string dead = std::to_string(child), killed = "run/state." + dead + "-3.lamina-tmp",
                    running = "run/state." + std::to_string(getppid()) + "-3.lamina-tmp",
                    other = "run/backup." + dead + "-01.tmp";
  for (const std::string& file : {killed, running, other}) std::ofstream(file) << "x";
  const RunFolder resumed = RunFolder::resume("run", "mnist");
  CHECK_FALSE(fs::exists(killed));
  CHECK(fs::exists(running));
  CHECK(fs::exists(other));
}
