// The folder of a command's results.

#include "tools/results/result_folder.h"

#include <doctest/doctest.h>

#include "core/files/file.h"
#include "core/files/folder.h"
#include "tests/temporary_folder.h"

using namespace lamina;

namespace {

RunConfig config_with(std::int64_t steps) {
  RunConfig config{.experiment = "geometry"};
  config.settings.set("steps", steps);
  return config;
}

std::int64_t steps_in(const std::string& folder) {
  return RunFolder::open(folder).config().settings.get<std::int64_t>("steps");
}

}  // namespace

TEST_CASE("results: the settings of a folder are those of the results that it has") {
  const TemporaryFolder scratch;
  const std::string path = scratch / "geometry";
  {
    const ResultFolder first(path, config_with(2));
    CHECK(steps_in(path) == 2);  // nothing else is there yet
    first.report("first\n");
  }
  { const ResultFolder stopped(path, config_with(500)); }  // before it had measured anything
  CHECK(steps_in(path) == 2);
  CHECK(read_file(path + "/summary.md") == "first\n");
  const ResultFolder second(path, config_with(500));
  second.report("second\n");
  CHECK(steps_in(path) == 500);
}

TEST_CASE("results: a folder of another command is refused") {
  const TemporaryFolder scratch;
  const std::string path = scratch / "results";
  const ResultFolder mine(path, config_with(2));
  CHECK_THROWS_AS(ResultFolder(path, {.experiment = "stability"}), UsageError);
}
