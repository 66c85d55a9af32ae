#pragma once
// Other programs that draw for us: gnuplot and Graphviz's dot.

#include <string>
#include <vector>

namespace lamina {

struct DrawingProgram {
  std::vector<std::string>
      command;                 ///< name and arguments; it draws what standard input says to standard output
  const char* package;         ///< "Graphviz"
  const char* name = package;  ///< "Graphviz's dot"
};

/// Runs the program without a shell and writes what it draws to `path`. When it is not installed, or fails, prints a
/// line to standard error that says what to do and returns false. DataError when there is no room for what it is told, or
/// for the picture.
bool draw_by(const DrawingProgram& program, const std::string& input, const std::string& path);

}  // namespace lamina
