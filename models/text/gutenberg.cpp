#include "models/text/gutenberg.h"

#include <algorithm>

namespace lamina {

namespace {

bool ends_notice(std::string_view line) { return line.starts_with("*** START OF"); }

bool begins_notice(std::string_view line) {
  return line.starts_with("*** END OF") || line.starts_with("End of the Project Gutenberg") ||
         line.starts_with("End of Project Gutenberg");
}

}  // namespace

std::span<const std::string> without_notices(std::span<const std::string> lines) {
  size_t begin = 0, end = lines.size();
  for (size_t i = 0; i < lines.size(); ++i) {
    if (ends_notice(lines[i])) begin = i + 1;
    if (begins_notice(lines[i])) {
      end = i;
      break;
    }
  }
  begin = std::min(begin, end);
  return lines.subspan(begin, end - begin);
}

BytesOfText without_notices(std::string_view file) {
  BytesOfText text{0, file.size()};
  for (size_t at = 0; at < file.size();) {
    const std::string_view line = file.substr(at, file.find('\n', at) - at);
    const size_t next = std::min(file.size(), at + line.size() + 1);
    if (ends_notice(line)) text.begin = next;
    if (begins_notice(line)) {
      text.end = at;
      break;
    }
    at = next;
  }
  return text;
}

}  // namespace lamina
