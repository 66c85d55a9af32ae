#include "tools/flags/wrapped_text.h"

#include <algorithm>

#include "models/text/utf8.h"

namespace lamina {

std::vector<std::string> wrapped(std::string_view text, size_t width) {
  std::vector<std::string> lines{""};
  bool behind_space = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(" ,"), text.size());
    const bool with_comma = end < text.size() && text[end] == ',';
    const std::string part(text.substr(0, end + (with_comma ? 1 : 0)));
    std::string& last = lines.back();
    std::string joined = last;
    if (behind_space && !last.empty()) joined += ' ';
    joined += part;
    if (last.empty() || characters_in(joined) <= width)
      last = joined;
    else
      lines.push_back(part);
    text.remove_prefix(part.size());
    behind_space = text.starts_with(' ');
    if (behind_space) text.remove_prefix(1);
  }
  return lines;
}

std::string help_entry(std::string_view name, std::string_view description, size_t width) {
  constexpr size_t margin = 2, deeper = 6, wide_enough = 70;
  const size_t column = width < wide_enough ? deeper : 30;
  std::string entry;
  for (const std::string& line : wrapped(name, width - std::min(width, deeper)))
    entry += (entry.empty() ? std::string(margin, ' ') : '\n' + std::string(deeper, ' ')) + line;
  bool beside = entry.find('\n') == std::string::npos && characters_in(entry) < column;
  if (beside) entry.resize(entry.size() + column - characters_in(entry), ' ');
  for (const std::string& line : wrapped(description, width - std::min(width, column))) {
    if (line.empty()) continue;
    entry += (beside ? "" : '\n' + std::string(column, ' ')) + line;
    beside = false;
  }
  return entry.erase(entry.find_last_not_of(' ') + 1) + '\n';
}

}  // namespace lamina
