#include "models/terminal/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace lamina {

namespace {

constexpr int fallback_width = 80;

}  // namespace

bool redraws() {
  const char* const terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) && terminal && std::string_view(terminal) != "dumb";
}

int terminal_width() {
  winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : fallback_width;
}

bool colours() {
  const char* const refused = std::getenv("NO_COLOR");
  return redraws() && (refused == nullptr || *refused == '\0');
}

std::string bold(std::string_view text) {
  return colours() ? "\x1b[1m" + std::string(text) + "\x1b[0m" : std::string(text);
}

}  // namespace lamina
