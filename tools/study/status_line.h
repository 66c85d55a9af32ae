#pragma once
// Lines that stay, and on a terminal one below them that is redrawn. In a pipe only the lines.

#include <string>

namespace lamina {

class StatusLine {
 public:
  StatusLine();
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void line(const std::string& text);
  /// Cut to the terminal's width.
  void show(const std::string& text);
  void erase();

 private:
  const bool redraws_;
  std::string shown_;
};

}  // namespace lamina
