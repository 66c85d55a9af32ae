#pragma once
// Where a study leaves its results: a report, tables and figures in one folder, each named on the terminal.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/run/run_folder.h"
#include "tools/results/plot.h"

namespace lamina {

class ResultFolder {
 public:
  /// Makes the folder. DataError when that is not possible.
  explicit ResultFolder(std::string path);
  /// The same with a config.json in it. UsageError where that would replace other results (require_place_for()). One that is
  /// there stays until report(): until then it is true of the results beside it.
  ResultFolder(const std::string& path, RunConfig config);

  /// Prints the text with its tables aligned, and writes it to summary.md; call it before write() and draw().
  void report(std::string_view markdown) const;

  /// Writes a file and prints its path.
  void write(const std::string& name, std::string_view bytes) const;

  /// Draws `name`.svg and `name`.png and prints their paths.
  void draw(const std::string& name, const std::vector<Panel>& panels) const;

 private:
  std::string path_;
  std::optional<RunConfig> config_;
};

}  // namespace lamina
