#include "tools/flags/training/common_flags.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/files/file.h"
#include "tests/check.h"
#include "tests/temporary_folder.h"
#include "tools/commands/commands.h"
#include "tools/flags/training/training_command.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// Is stopped before it trains, and reads a file of its data by the way that it is told.
class Little final : public TrainingCommand {
 public:
  explicit Little(Command& command) : TrainingCommand(command, mnist_step(), {.epochs = {1, 1}}) {
    fields.add("--decay", decay_, "of the learning rate").one_of({"none", "linear"});
  }
  void (*read)(const std::string& file) = nullptr;

 private:
  TrainingData load() override {
    if (!data_folder.empty()) read(data_folder + "/a.csv");
    return {.source = "cases", .cases = 1000};
  }
  Outcome train_variant(const RunFolder&, const RunLabel&) override { return Outcome::interrupted; }
  std::string summary(const TrainedVariants&) const override { return {}; }
  std::vector<Panel> figure(const TrainedVariants&) const override { return {}; }
  std::string decay_ = "none";
};

/// Trains with this command line; what it says is kept from the screen.
void train_little(std::vector<std::string> words, void (*read)(const std::string& file) = nullptr) {
  words.insert(words.begin(), "mnist");
  Command command("mnist", "for tests");
  Little little(command);
  little.read = read;
  command.check(words);
  std::ostringstream unheard;
  std::streambuf* const screen = std::cout.rdbuf(unheard.rdbuf());
  try {
    little.run();
  } catch (...) {
    std::cout.rdbuf(screen);
    throw;
  }
  std::cout.rdbuf(screen);
}

}  // namespace

TEST_CASE("LAMINA_SMOKE: a number of epochs; unset and empty are none") {
  const char* const given = std::getenv("LAMINA_SMOKE");
  const auto before = given ? std::optional<std::string>(given) : std::nullopt;
  ::unsetenv("LAMINA_SMOKE");
  CHECK(smoke_epochs() == 0);
  ::setenv("LAMINA_SMOKE", "", 1);
  CHECK(smoke_epochs() == 0);
  ::setenv("LAMINA_SMOKE", "3", 1);
  CHECK(smoke_epochs() == 3);
  ::setenv("LAMINA_SMOKE", "yes", 1);
  CHECK(smoke_epochs() == 1);
  if (before)
    ::setenv("LAMINA_SMOKE", before->c_str(), 1);
  else
    ::unsetenv("LAMINA_SMOKE");
}

TEST_CASE("fields: a flag that is given counts, also where it says 0; what is not given is the preset's") {
  const auto noise_of = [](const std::vector<const char*>& words) {
    Command command("copy", "for tests");
    Fields fields(command);
    double noise = 0;
    fields.add("--noise", noise, "share", {.paper = 0.5, .small = 0.1}).range(0, 1);
    command.action([&] {
      fields.fill_in(true);
      return 0;
    });
    CHECK(command.run(static_cast<int>(words.size()), words.data()) == 0);
    return noise;
  };
  CHECK(noise_of({"copy"}) == 0.5);
  CHECK(noise_of({"copy", "--noise", "0"}) == 0);
  CHECK(noise_of({"copy", "--noise", "0.25"}) == 0.25);
}

TEST_CASE("fields: what an older config.json lacks is the default, or that of the run's preset") {
  Command command("copy", "for tests");
  Fields fields(command);
  size_t cases = 0, every = 3;
  fields.keep("every", every);
  every = 9;
  fields.keep("cases", cases, {.paper = 6400, .small = 640, .required = false});
  for (const auto& [preset, expected] : {std::pair("paper", 6400), {"small", 640}}) {
    Settings older;
    older.set("preset", std::string(preset));
    fields.read(older);
    CHECK(cases == static_cast<size_t>(expected));
    CHECK(every == 3);
  }
  Settings newer;
  newer.set("cases", std::int64_t{0});
  fields.read(newer);
  CHECK(cases == 0);
}

TEST_CASE("training command: data that are read in a way that is not noted are an error") {
  const TemporaryFolder folder;
  write_file(folder / "a.csv", "1\n");
  const std::vector<std::string> words{"--data", folder.path(), "--out", folder / "run"};
  CHECK_NOTHROW(train_little(words, [](const std::string& file) { read_file(file); }));
  const std::string what =
      message_of<Error>([&] { train_little(words, [](const std::string& file) { std::ifstream{file}; }); });
  CHECK_MESSAGE(contains(what, "lamina mnist: load() read nothing in --data " + folder.path()), what);
}

TEST_CASE(
    "training command: a data folder whose name has a line end is refused, as data.txt cannot hold it") {
  const TemporaryFolder folder;
  const std::string data = folder / "two\nlines";
  std::filesystem::create_directory(data);
  write_file(data + "/a.csv", "1\n");
  const std::string what = message_of<UsageError>([&] {
    train_little({"--data", data, "--out", folder / "run"}, [](const std::string& file) { read_file(file); });
  });
  CHECK(what == "--data: the folder's name has a line end, so that data.txt cannot hold it; rename it");
}

TEST_CASE("training command: variants go on for longer unless the learning rate falls, by whatever law") {
  const TemporaryFolder folder;
  for (const std::string decay : {"none", "linear"}) {
    const std::string out = folder / decay;
    train_little({"--norm", "none", "--decay", decay, "--epochs", "1", "--out", out + "/none-b128"});
    const std::string what = message_of<UsageError>([&] {
      train_little({"--norm", "none,layer", "--decay", decay, "--epochs", "2", "--out", out});
    });
    CHECK(contains(what, "--epochs 2: the run in " + out + "/none-b128 began with 1") == (decay == "linear"));
  }
}
