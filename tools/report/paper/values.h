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

/// A setting of the paper's runs, as config.json has it, and the values that are the same.
struct PaperSetting {
  const char* name;                 ///< "batch"
  std::vector<std::string> values;  ///< {"128"}
};

/// Those that are known of the runs behind an exhibit's numbers, from the paper or the code that it was made with
/// (models/FIDELITY.md); runs of ours with others are not compared with them.
std::vector<PaperSetting> paper_settings(const std::string& exhibit);

/// Of this chart of ours; none for most.
std::vector<PaperValue> paper_values(const std::string& exhibit, const std::string& column);

}  // namespace lamina
