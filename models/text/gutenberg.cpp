#include "models/text/gutenberg.h"

#include <algorithm>

namespace lamina {

std::span<const std::string> without_notices(std::span<const std::string> lines) {
  size_t begin = 0, end = lines.size();
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("*** START OF")) begin = i + 1;
    if (lines[i].starts_with("*** END OF") || lines[i].starts_with("End of the Project Gutenberg") ||
        lines[i].starts_with("End of Project Gutenberg")) {
      end = i;
      break;
    }
  }
  begin = std::min(begin, end);
  return lines.subspan(begin, end - begin);
}

}  // namespace lamina
