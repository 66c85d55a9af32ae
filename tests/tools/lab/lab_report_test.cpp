// What a lab's tables, figure and curves.csv say of its rows.

#include "tools/lab/lab_report.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>
#include <utility>

using namespace lamina;
using namespace lamina::lab;

namespace {

/// The losses of five seeds at rates of 1, 2 and 3: none, two and three of them diverge.
Rows some_that_diverged() {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const double losses[][3] = {
      {1, 10, 7}, {2, infinite, infinite}, {3, 30, infinite}, {4, std::nan(""), infinite}, {5, 20, 8}};
  Rows rows;
  for (std::int64_t seed = 1; seed <= 5; ++seed)
    for (int x = 0; x < 3; ++x)
      rows.push_back({seed, "layer", "loss", static_cast<double>(x + 1), losses[seed - 1][x]});
  return rows;
}

}  // namespace

TEST_CASE("lab report: a seed that diverged counts in the median, as above all others") {
  const Rows rows = some_that_diverged();
  const Lab lab{.charts = {{.title = "Loss", .quantity = "loss", .x_label = "rate"}}};
  CHECK(summary_of(lab, rows, {}).find("| layer norm | 3 | 30 | - |") != std::string::npos);
  CHECK(curves_csv(rows) ==
        "variant,x,loss,loss low,loss high\nlayer,1,3,1,5\nlayer,2,30,10,30\nlayer,3,,,\n");
  const std::vector<Panel> panels = figure_of(lab, rows);
  const Curve& curve = panels.at(0).curves.at(0);
  CHECK(curve.x == std::vector<double>{1, 2, 3});
  CHECK(curve.y ==
        std::vector<double>{3, 30, std::numeric_limits<double>::infinity()});  // interrupts the line
  CHECK(curve.low == std::vector<double>{1, 10, 7});
  CHECK(curve.high == std::vector<double>{5, 30, 8});
}

TEST_CASE("lab report: of numbers without an axis the table says how many there are") {
  Rows rows;
  for (const double value : {2.0, 3.0, std::nan("")})
    rows.push_back({static_cast<std::int64_t>(rows.size()), "layer", "loss", 0, value});
  CHECK(summary_of({}, rows, {}).find("| layer norm | 2 | 3 | 2 | 3 |") != std::string::npos);
}

TEST_CASE("lab report: of a long curve the table has ten columns, the first and the last among them") {
  Rows rows;
  for (int x = 0; x < 25; ++x) rows.push_back({1, "layer", "loss", static_cast<double>(x), 100.0 + x});
  CHECK(summary_of({}, rows, {})
            .find("| layer norm | 100 | 103 | 105 | 108 | 111 | 113 | 116 | 119 | 121 | 124 |") !=
        std::string::npos);
}

TEST_CASE("lab report: curves of one norm have its colour, and a line of their own each") {
  Rows rows;
  for (const char* const variant : {"none", "layer", "layer a", "layer b", "layer c", "layer d"})
    rows.push_back({1, variant, "loss", 0, 1});
  std::set<std::pair<int, Line>> looks;
  const std::vector<Panel> panels = figure_of({.charts = {{.quantity = "loss"}}}, rows);
  for (const Curve& curve : panels.at(0).curves) looks.emplace(curve.color, curve.line);
  CHECK(looks.size() == 6);
}
