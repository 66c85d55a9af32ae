#include "tools/results/plot.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <sstream>

#include "core/error.h"
#include "core/files/file.h"
#include "tools/results/palette.h"

using namespace lamina;
namespace fs = std::filesystem;

namespace {

/// A folder that is removed at the end of the test.
struct Scratch {
  fs::path path = fs::temp_directory_path() / ("lamina-plot-" + std::to_string(getpid()));
  Scratch() { fs::create_directories(path); }
  ~Scratch() { fs::remove_all(path); }
  size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(path), {})); }
};

/// Captures std::cerr in a string while it lives.
struct CapturedErrors {
  std::ostringstream text;
  std::streambuf* before = std::cerr.rdbuf(text.rdbuf());
  ~CapturedErrors() { std::cerr.rdbuf(before); }
};

/// A test that draws counts as skipped without gnuplot.
bool no_gnuplot() { return std::system("command -v gnuplot >/dev/null 2>&1") != 0; }

Panel falling_curves(const std::string& title) {
  Panel panel = {.title = title, .x_label = "epoch", .y_label = "nats", .log_y = true};
  for (int c = 0; c < 3; ++c) {
    Curve curve = {.title = "curve " + std::to_string(c)};
    for (int i = 1; i <= 60; ++i) {
      curve.x.push_back(i);
      curve.y.push_back(std::exp(-0.05 * (c + 1) * i));
    }
    panel.curves.push_back(curve);
  }
  return panel;
}

}  // namespace

TEST_CASE("a figure is a whole SVG and a whole PNG, and nothing else is left" * doctest::skip(no_gnuplot())) {
  const Scratch scratch;
  for (const size_t panels : {1u, 2u, 4u}) {
    REQUIRE(
        write_figure((scratch.path / "figure").string(), std::vector(panels, falling_curves("Training"))));
    const std::string svg = read_file((scratch.path / "figure.svg").string());
    CHECK(svg.starts_with("<?xml"));
    CHECK(svg.find("</svg>") != std::string::npos);
    CHECK(svg.find("curve 2") != std::string::npos);
    const std::string png = read_file((scratch.path / "figure.png").string());
    CHECK(png.starts_with("\x89PNG\r\n"));
    CHECK(png.substr(png.size() - 8, 4) == "IEND");
  }
  CHECK(scratch.files() == 2);
}

TEST_CASE("special characters in names and texts are only characters" * doctest::skip(no_gnuplot())) {
  const Scratch scratch;
  const std::string nasty =
      "it's `touch pwned` $(touch pwned) \"q\" a_b^c @x\n% | \\n {/Bold b}; set output 'pwned'";
  Panel panel = falling_curves(nasty);
  panel.x_label = panel.y_label = panel.curves[0].title = nasty;
  const fs::path before = fs::current_path();
  fs::current_path(scratch.path);
  const bool written = write_figure("| it's `x` $y", {panel});
  fs::current_path(before);
  REQUIRE(written);
  CHECK(scratch.files() == 2);
  const std::string svg = read_file((scratch.path / "| it's `x` $y.svg").string());
  CHECK(svg.find("`touch pwned` $(touch pwned)") != std::string::npos);
  CHECK(svg.find("a_b^c @x") != std::string::npos);
}

TEST_CASE("values that cannot be drawn are left out" * doctest::skip(no_gnuplot())) {
  const Scratch scratch;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Panel gaps = {.title = "gaps",
                      .log_y = true,
                      .curves = {{.title = "a", .x = {1, 2, 3, 4}, .y = {nan, 1, 0, INFINITY}}}};
  const Panel nothing = {.title = "none", .log_y = true, .curves = {{.title = "b", .x = {1}, .y = {nan}}}};
  const Panel flat = {.title = "flat", .y_min = 0, .curves = {{.title = "c", .x = {1, 2}, .y = {0, 0}}}};
  CHECK(write_figure((scratch.path / "figure").string(), {gaps, nothing, flat}));
}

TEST_CASE("a line is interrupted where an axis has no place for its value" * doctest::skip(no_gnuplot())) {
  const Scratch scratch;
  const auto beginnings = [&](double third) {  // of lines: an M in the path of an SVG
    const Panel panel = {.log_y = true,
                         .curves = {{.title = "a", .x = {1, 2, 3, 4, 5}, .y = {2, 1, third, 1, 2}}}};
    REQUIRE(write_figure((scratch.path / "figure").string(), {panel}));
    return std::ranges::count(read_file(scratch.path / "figure.svg"), 'M');
  };
  const auto whole = beginnings(1);
  CHECK(beginnings(0) == whole + 1);
  CHECK(beginnings(-1) == whole + 1);
  CHECK(beginnings(std::numeric_limits<double>::infinity()) == whole + 1);
  CHECK(beginnings(std::numeric_limits<double>::quiet_NaN()) == whole);
}

TEST_CASE("points before the first that a log axis has a place for are no gap" *
          doctest::skip(no_gnuplot())) {
  const Scratch scratch;
  const auto marks = [&](double sixth) {  // of 20 points
    Curve curve{.title = "a"};
    for (int i = 0; i < 20; ++i) {
      curve.x.push_back(i);
      curve.y.push_back(i == 5 ? sixth : i + 1);
    }
    REQUIRE(write_figure((scratch.path / "figure").string(),
                         {{.log_x = true, .log_y = true, .curves = {curve}}}));
    const std::string svg = read_file(scratch.path / "figure.svg");
    size_t count = 0;
    for (size_t at = 0; (at = svg.find("href='#gpPt6'", at)) != svg.npos; ++at) ++count;
    return count;
  };
  CHECK(marks(6) == 0);
  CHECK(marks(0) >= 18);
}

TEST_CASE("of many curves without a colour of their own no two look alike" * doctest::skip(no_gnuplot())) {
  const Scratch scratch;
  const auto is_dashed = [&](size_t curves) {
    Panel panel{.title = "many"};
    for (size_t i = 0; i < curves; ++i)
      panel.curves.push_back({.title = std::to_string(i), .x = {1, 2}, .y = {1, static_cast<double>(i)}});
    REQUIRE(write_figure(scratch.path / "many", {panel}));
    return read_file(scratch.path / "many.svg").find("stroke-dasharray") != std::string::npos;
  };
  CHECK(!is_dashed(plain_colors));
  CHECK(is_dashed(plain_colors + 1));
}

TEST_CASE("no curve is left out of the legend, however long the titles are" * doctest::skip(no_gnuplot())) {
  const Scratch scratch;
  constexpr size_t curves = 12;
  for (const size_t panels : {1U, 2U, 3U})
    for (const size_t length : {12U, 16U, 32U, 50U, 90U}) {
      Panel panel;
      for (size_t i = 0; i < curves; ++i)
        panel.curves.push_back(
            {.title = std::string(length, static_cast<char>('a' + i)), .x = {1}, .y = {1}});
      REQUIRE(write_figure(scratch.path / "legend", std::vector(panels, panel)));
      const std::string svg = read_file(scratch.path / "legend.svg");
      CAPTURE(panels);
      CAPTURE(length);
      for (const Curve& curve : panel.curves)
        CHECK(svg.find("<text>" + curve.title + "<") != std::string::npos);
    }
}

TEST_CASE("a curve of which one point can be drawn shows it" * doctest::skip(no_gnuplot())) {
  const Scratch scratch;
  Curve one{.title = "one", .x = {}, .y = {}};
  for (int i = 0; i < 20; ++i) {
    one.x.push_back(i);
    one.y.push_back(i == 7 ? 3 : std::nan(""));
  }
  Curve line = one;
  line.y = line.x;
  REQUIRE(write_figure(scratch.path / "one", {{.curves = {one, line}}}));
  const std::string svg = read_file(scratch.path / "one.svg");
  const std::string mark = "'#gpPt6' transform";
  const size_t first = svg.find(mark);  // in the panel, and beside the title
  REQUIRE(first != std::string::npos);
  CHECK(svg.find(mark, first + 1) != std::string::npos);
}

TEST_CASE("the marks of a narrow axis differ" * doctest::skip(no_gnuplot())) {
  const Scratch scratch;
  const Panel narrow{.curves = {{.x = {1e6, 1e6 + 1, 1e6 + 2}, .y = {1.414213, 1.414214, 1.414217}}}};
  REQUIRE(write_figure(scratch.path / "narrow", {narrow}));
  const std::string svg = read_file(scratch.path / "narrow.svg");
  for (const char* mark : {">1000001<", ">1000002<", ">1.414213<", ">1.414215<"})
    CHECK(svg.find(mark) != std::string::npos);
}

TEST_CASE("ends of an axis that are one, or nearly" * doctest::skip(no_gnuplot())) {
  const Scratch scratch;
  const auto drawn = [&](double low, double high) {
    return write_figure(scratch.path / "ends",
                        {{.y_min = low, .y_max = high, .curves = {{.x = {1, 2}, .y = {low, high}}}}});
  };
  CHECK(drawn(0, 0));
  CHECK(drawn(1000000.25, 1000000.5));
}

TEST_CASE("a heat map's rows and columns can have names" * doctest::skip(no_gnuplot())) {
  const Scratch scratch;
  const HeatMap map = {.rows = 1,
                       .columns = 2,
                       .values = {-3, 1},
                       .row_names = {"layer_norm"},
                       .column_names = {"X+γ", "it's"},
                       .low = -10,
                       .high = 10};
  const Panel curves = falling_curves("after it");  // whose axes must have numbers again
  REQUIRE(write_figure(scratch.path / "named", {{.title = "named", .heat_map = map}, curves}));
  const std::string svg = read_file(scratch.path / "named.svg");
  for (const char* name : {"layer_norm", "X+γ", "it's", "60"}) CHECK(svg.find(name) != std::string::npos);
  HeatMap wrong = map;
  wrong.row_names.emplace_back("too many");
  CHECK_THROWS_AS(write_figure(scratch.path / "wrong", {{.heat_map = wrong}}), Error);
}

TEST_CASE("a missing gnuplot costs one line, not the run") {
  const Scratch scratch;
  const std::string path = std::getenv("PATH");
  setenv("PATH", scratch.path.c_str(), 1);
  bool written = true;
  std::string message;
  {
    const CapturedErrors errors;
    written = write_figure((scratch.path / "figure").string(), {falling_curves("Training")});
    message = errors.text.str();
  }
  setenv("PATH", path.c_str(), 1);
  CHECK_FALSE(written);
  CHECK(message.find("gnuplot is not installed; run tools/install-deps.sh") != std::string::npos);
  CHECK(scratch.files() == 0);
}

TEST_CASE("wrong calls are errors") {
  CHECK_THROWS_AS(write_figure("figure", {}), Error);
  CHECK_THROWS_AS(write_figure("figure", {{.title = "t", .curves = {{.title = "a", .x = {1, 2}, .y = {1}}}}}),
                  Error);
}

TEST_CASE("a file that cannot be written is an error" * doctest::skip(no_gnuplot())) {
  CHECK_THROWS_AS(write_figure("/nonexistent-folder/figure", {falling_curves("Training")}), DataError);
}
