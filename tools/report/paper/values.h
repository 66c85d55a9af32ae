#pragma once
// What the paper's text and tables give of its figures in numbers.

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

/// Of this chart of ours; none for most.
std::vector<PaperValue> paper_values(const std::string& exhibit, const std::string& column);

}  // namespace lamina
