// What runs have drawn comes into the page, and what cannot be shown does not keep the rest from it.

#include "tools/report/found/pictures.h"
#include "tests/temporary_folder.h"
#include "tests/tools/report/runs_folder.h"

using namespace lamina;
using namespace lamina::report_test;

namespace {

const std::string png = "\x89PNG\r\n\x1a\n...";

Json problems_of(const Json& exhibit) { return exhibit["runs"][0]["problems"]; }

}  // namespace

TEST_CASE("base64 as RFC 4648 has it") {
  CHECK(base64("") == "");
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foobar") == "Zm9vYmFy");
  CHECK(base64("\xff\xfe\xfd") == "//79");
}

TEST_CASE("a run's pictures stand in its exhibit, in the order of the plan") {
  const TemporaryFolder folder;
  make_run_of("draw", folder / "a", {{"norm", "layer"}}, "epoch,test_bound,train_bound\n1,90,91\n");
  write_file(folder / "a/samples.png", png);
  write_file(folder / "a/glimpses.png", png);
  write_file(folder / "a/other.png", png);
  const Json pictures = exhibit_on(folder.path(), "figure-4")["pictures"];
  REQUIRE(pictures.size() == 2);
  CHECK(pictures[0]["run"] == folder / "a/samples.png");
  CHECK(pictures[0]["source"] == "data:image/png;base64,iVBORw0KGgouLi4=");
  CHECK(exhibit_on(folder.path(), "figure-6")["pictures"].empty());
}

TEST_CASE("a graph of the tape needs no config") {
  const TemporaryFolder folder;
  write_file(folder / "layers.svg", "<svg></svg>");
  const Json shown = exhibit_on(folder.path(), "tape");
  REQUIRE(shown["pictures"].size() == 1);
  CHECK(shown["pictures"][0]["source"] == "data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=");
  CHECK(problems_of(shown).empty());
}

TEST_CASE("heat maps of any question are shown") {
  const TemporaryFolder folder;
  make_run_of("attentive-reader", folder / "a", {{"norm", "layer"}}, "step,valid_error\n50,0.7\n");
  write_file(folder / "a/validation-3.svg", "<svg></svg>");
  write_file(folder / "a/validation-12.svg", "<svg></svg>");
  CHECK(exhibit_on(folder.path(), "figure-2")["pictures"].size() == 2);
}

TEST_CASE("a picture that cannot be read is said, and the report goes on") {
  const TemporaryFolder folder;
  make_run_of("draw", folder / "a", {{"norm", "layer"}}, "epoch,test_bound,train_bound\n1,90,91\n");
  std::filesystem::create_directories(folder / "a/samples.png");  // a folder
  write_file(folder / "a/glimpses.png", "no picture");
  const Json shown = exhibit_on(folder.path(), "figure-4");
  CHECK(shown["pictures"].empty());
  CHECK(shown["charts"].size() == 2);
  REQUIRE(problems_of(shown).size() == 2);
  CHECK(problems_of(shown)[0] == "glimpses.png is no PNG picture");
  CHECK(problems_of(shown)[1].get<std::string>().starts_with("samples.png cannot be read"));
}
