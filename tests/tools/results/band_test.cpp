#include "tools/results/band.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>

#include "core/error.h"
#include "core/files/file.h"
#include "tests/temporary_folder.h"

using namespace lamina;

namespace {

Table run_of(const std::vector<double>& values) {
  Table table{.columns = {"step", "loss"}, .rows = {}};
  for (size_t i = 0; i < values.size(); ++i)
    table.rows.push_back({static_cast<double>(10 * (i + 1)), values[i]});
  return table;
}

}  // namespace

TEST_CASE("band: the median of runs and their range") {
  const std::vector<Table> runs{run_of({3, 2, 1}), run_of({5, std::nan(""), 2}), run_of({4, 6})};
  const Curve curve = median_curve(runs, "step", "loss", {.title = "runs", .color = 2});
  CHECK(curve.title == "runs");
  CHECK(curve.x == std::vector<double>{10, 20, 30});
  CHECK(curve.y == std::vector<double>{4, 4, 1.5});
  CHECK(curve.low == std::vector<double>{3, 2, 1});
  CHECK(curve.high == std::vector<double>{5, 6, 2});
}

TEST_CASE("band: runs that diverged count as the worst from there on, and not as if they had not been") {
  const std::vector<Table> runs{run_of({3, 2, 1}), run_of({5, 4, 2}), run_of({4})};
  Diverged last{.runs = {false, false, true}};
  const Curve lower = median_curve(runs, "step", "loss", {}, last);
  CHECK(lower.y == std::vector<double>{4, 4, 2});
  CHECK(lower.low == std::vector<double>{3, 2, 1});
  CHECK(lower.high == std::vector<double>{5, 4, 2});
  last.as_lowest = true;
  CHECK(median_curve(runs, "step", "loss", {}, last).y == std::vector<double>{4, 2, 1});
  const Curve half =
      median_curve({run_of({3, 2, 1}), run_of({4})}, "step", "loss", {}, {.runs = {false, true}});
  CHECK(half.x == std::vector<double>{10});
  CHECK(median_curve({run_of({3}), run_of({})}, "step", "loss", {}, {.runs = {false, true}}).x.empty());
}

TEST_CASE("band: one run has none, and no run is an empty curve") {
  const Curve one = median_curve({run_of({3, 2})}, "step", "loss", {});
  CHECK(one.y == std::vector<double>{3, 2});
  CHECK(one.low.empty());
  CHECK(median_curve({}, "step", "loss", {}).x.empty());
}

TEST_CASE("band: a figure refuses one of another length") {
  const Panel panel{.curves = {{.title = "a", .x = {1, 2}, .y = {1, 2}, .low = {1}, .high = {2}}}};
  CHECK(message_of<Error>([&] { write_figure("/nowhere/figure", {panel}); }) ==
        "write_figure: the band of curve 'a' has 1 low and 1 high ends for 2 x");
}

TEST_CASE("band: it is drawn behind the line, and left out where a log axis cannot show it" *
          doctest::skip(std::system("command -v gnuplot >/dev/null 2>&1") != 0)) {
  const TemporaryFolder folder;
  const auto filled = [&](double low, bool log) {
    const Panel panel{.log_y = log,
                      .curves = {{.title = "a", .x = {1, 2}, .y = {1, 2}, .low = {low, low}, .high = {3, 3}},
                                 {.x = {1, 2}, .y = {2, 1}, .pale = true}}};
    REQUIRE(write_figure(folder / "figure", {panel}));
    return read_file(folder / "figure.svg").find("fill-opacity = '0.18") != std::string::npos;
  };
  CHECK(filled(0.5, true));
  CHECK(filled(-1, false));
  CHECK(!filled(-1, true));
}
