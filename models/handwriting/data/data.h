#pragma once
// Lines of handwriting as the network sees them.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/data/pen.h"
#include "models/handwriting/model.h"

namespace lamina::handwriting {

struct Line {
  std::vector<real> points;  ///< [n x 3]: dx, dy and 1 at the end of a stroke; the first offset is 0, 0
  std::vector<int> text;     ///< symbols
  size_t count() const { return points.size() / 3; }
};

/// As offsets. Throws Error for fewer than two points.
Line line_of(const std::vector<PenPoint>& points, const std::string& text);

struct Data {
  std::vector<Line> train, test;
  real deviation_x = 1, deviation_y = 1;  ///< of the training offsets; all offsets were divided by them
  std::string source;                     ///< one line for the log: what the data are, and whether real
};

/// Divides the offsets of all lines by their deviations over the training lines.
void normalize(Data& data);

/// Lines written by the synthetic pen (models/data/pen.h): a hundred hands, of which every tenth writes
/// only test lines; no test line's text is in the training set.
Data synthetic_lines(std::uint64_t seed, size_t train = 10000, size_t test = 500);

/// The chosen lines, of which at most `length` + 1 points are kept: the rest of a longer line is cut off, but
/// not its text.
Batch make_batch(std::span<const Line> lines, std::span<const int> chosen, size_t length);

}  // namespace lamina::handwriting
