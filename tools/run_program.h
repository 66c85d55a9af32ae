#pragma once
// Other programs that draw for us: gnuplot and Graphviz's dot.

#include <string>
#include <vector>

namespace lamina {

struct ProgramOutcome {
  std::string output, messages;  ///< standard output and standard error
  int error = 0;                 ///< errno when it did not start
  bool ok = false;               ///< it ran and ended with exit code 0

  /// Whether there is no such program.
  bool missing() const;
  /// Why it is not ok: one line.
  std::string reason() const;
};

/// Runs a program without a shell, {name, argument, ...}, on this standard input, and waits for its end.
/// DataError when there is no room for a temporary file.
ProgramOutcome run_program(const std::vector<std::string>& command, const std::string& input);

}  // namespace lamina
