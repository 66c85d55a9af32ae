#include "tools/study/status_line.h"

#include <algorithm>
#include <iostream>

#include "models/terminal/terminal.h"

namespace lamina {

StatusLine::StatusLine() : redraws_(redraws()) {}
StatusLine::~StatusLine() { erase(); }

void StatusLine::line(const std::string& text) {
  const std::string below = shown_;
  erase();
  std::cout << text << std::endl;
  if (!below.empty()) show(below);
}

void StatusLine::show(const std::string& text) {
  if (!redraws_) return;
  // The last column stays free: some terminals wrap there.
  const std::string cut = text.substr(0, static_cast<std::size_t>(std::max(terminal_width() - 1, 1)));
  if (cut != shown_) std::cout << '\r' << cut << "\x1b[K" << std::flush;
  shown_ = cut;
}

void StatusLine::erase() {
  if (!shown_.empty()) std::cout << "\r\x1b[K" << std::flush;
  shown_.clear();
}

}  // namespace lamina
