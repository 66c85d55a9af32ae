#pragma once
// What the paper prints of its figures in numbers: the ends of their axes, and the values that text and tables give. Its
// curves are pictures, of which nothing was read off by eye.

#include <string>
#include <vector>

namespace lamina {

/// A value that one of the paper's curves has at `x`, or a level: a line over the whole figure.
struct PaperValue {
  const char* title;  ///< "baseline, after 200 epochs"
  const char* norm;   ///< as in config.json; "level" for what has none
  double x;           ///< NaN for a level
  double y;
  const char* source;  ///< "Section 6.4, page 9"
};

/// In the units of our columns.
struct PaperAxes {
  double x_low, x_high, y_low, y_high;
};

struct PaperChart {
  const char* exhibit;  ///< "figure-4"
  const char* column;   ///< ours of the y axis: "test_bound"
  PaperAxes axes;
  const char* axes_source;  ///< where and in which units: "Figure 4, page 9"
  std::vector<PaperValue> values = {};
};

/// Of this chart of ours; nullptr when the paper has none.
const PaperChart* paper_chart(const std::string& exhibit, const std::string& column);

}  // namespace lamina
