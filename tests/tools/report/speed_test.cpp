// The report's section on speed, from the file that tools/bench.py writes.

#include <doctest/doctest.h>

#include "core/files/file.h"
#include "tests/temporary_folder.h"
#include "tests/tools/report/runs_folder.h"

using namespace lamina;
using report_test::exhibit_on;

TEST_CASE("the speed section shows what tools/bench.py measured") {
  const TemporaryFolder folder;
  const auto row = [](const char* variant, double ms, bool too_noisy) {
    return Json{{"case", "lstm"}, {"variant", variant},     {"ms", ms},        {"ratio", 3},
                {"peer_ms", 30},  {"too_noisy", too_noisy}, {"fraction", 0.5}, {"interval", {2.9, 3.1}}};
  };
  Json alone = row("none", 20, false);
  alone["case"] = "transformer";
  for (const char* of_pytorch : {"ratio", "peer_ms", "interval"}) alone[of_pytorch] = nullptr;
  Json few = row("none", 20, false);  // bursts, which have no interval
  few["case"] = "draw";
  few["interval"] = nullptr;
  const Json measured{
      {"machine", "2 cores"}, {"backend", "own kernels"},
      {"bursts", 40},         {"seconds", 0.15},
      {"load", 0.1},          {"rows", {row("none", 10, true), row("ln", 11, false), alone, few}}};
  write_file(folder / "bench.json", measured.dump());
  const Json shown = exhibit_on(folder.path(), "speed");
  const Json rows = shown["tables"][0]["rows"];
  CHECK(rows[0]["cells"] == Json({"10", "30", "too noisy", "2.9 to 3.1", "1", "50"}));
  CHECK(rows[1]["norm"] == "layer");
  CHECK(rows[1]["cells"] == Json({"11", "30", "3", "2.9 to 3.1", "1.1", "50"}));
  CHECK(rows[2]["cells"] == Json({"20", "–", "–", "–", "1", "50"}));
  CHECK(rows[3]["cells"] == Json({"20", "30", "3", "–", "1", "50"}));
  CHECK(shown["runs"][0]["made_with"].get<std::string>().find("40 bursts of 0.15 s") != std::string::npos);
  write_file(folder / "bench.json", "{\"rows\": [");
  const Json problems = exhibit_on(folder.path(), "speed")["runs"][0]["problems"];
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].get<std::string>().find("is not what tools/bench.py writes") != std::string::npos);
}
