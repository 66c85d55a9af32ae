#pragma once
// Figures, drawn by gnuplot: panels of curves, written as SVG and as PNG.
//
//   write_figure("runs/demo/figure", {{.title = "Training",
//                                      .x_label = "epoch",
//                                      .y_label = "nats",
//                                      .log_y = true,
//                                      .curves = {{.title = "layer norm", .x = epochs, .y = losses}}}});

#include <optional>
#include <string>
#include <vector>

namespace lamina {

enum class Line { solid, dashed, dotted, dash_dotted, sparse };  // palette.h's dashes

/// Of the i-th curve where colours have to serve again (plain_color() of palette.h): the next kind for every round of them.
Line line_at(size_t i);

struct Curve {
  std::string title = {};      // in the legend; none when empty
  std::vector<double> x = {};  // as long as y
  std::vector<double> y = {};  // points that are not finite, or not above 0 on a log axis, are left out
  Line line = Line::solid;
  int color = -1;  // in the palette (palette.h), or -1: the next one for what is no norm
  // A band around it in a paler shade, from `low` to `high` at each x; empty, or as long as y. Of several curves it lies
  // behind all lines.
  std::vector<double> low = {}, high = {};
  bool pale = false;  // thin and light, for many curves that are context for others
};

/// A picture of numbers: one coloured square each, row 0 at the top.
struct HeatMap {
  size_t rows = 0, columns = 0;
  std::vector<double> values = {};                             // rows * columns of them, row by row
  std::vector<std::string> row_names = {}, column_names = {};  // in place of numbers, if given
  std::optional<double> low = {}, high = {};  // the ends of the colour scale; what is not given fits the data
};

struct Panel {
  std::string title = {}, x_label = {}, y_label = {};
  bool log_x = false, log_y = false;
  std::optional<double> y_min = {}, y_max = {};  // what is not given fits the data
  std::vector<Curve> curves = {};
  std::optional<HeatMap> heat_map = {};  // drawn instead of curves, in a square with its own colour scale
};

/// Draws the panels side by side, in rows of three at most (four are two by two), into `path`.svg and
/// `path`.png. Any text and file name will do: none of it passes through a shell, and gnuplot's markup is
/// off.
///
/// A figure is never worth a run: without gnuplot, or when it fails, prints one line to standard error that
/// says what to do and returns false. Error when a curve's x, y or band differ in length or a
/// heat map has another number of values than squares or of names than rows or columns; DataError when a file
/// cannot be written.
bool write_figure(const std::string& path, const std::vector<Panel>& panels);

}  // namespace lamina
