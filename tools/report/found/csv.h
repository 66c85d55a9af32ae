#pragma once
// A CSV file for showing: columns of text, as much of it as can be read. The report is made while runs write
// and after they broke, so what is wrong is said and never thrown.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lamina {

struct Csv {
  std::vector<std::string> columns = {};
  std::vector<std::vector<std::string>> rows = {};  ///< each as long as `columns`
  std::string problem = {};                         ///< what is wrong, as a clause; empty when nothing is

  std::optional<size_t> find(std::string_view column) const;
};

/// Takes apart the bytes of a file. A last line without its end is being written and left out; reading stops
/// at a line of another length than the header, which becomes the problem.
Csv parse_csv(std::string_view bytes);

/// A field as a number; NaN when it is not one.
double number_in(const std::string& field);

}  // namespace lamina
