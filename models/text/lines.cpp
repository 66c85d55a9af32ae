#include "models/text/lines.h"

#include <algorithm>
#include <string_view>

#include "core/error.h"
#include "core/file.h"
#include "models/text/utf8.h"

namespace lamina {

std::vector<std::string> read_lines(const std::string& path) {
  const std::string bytes = read_file(path);
  std::string_view rest = bytes;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  if (rest.empty()) fail<DataError>(path, ": is empty; download it again");
  std::vector<std::string> lines;
  while (!rest.empty()) {
    const size_t length = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, length);
    rest.remove_prefix(std::min(length + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find('\0') != line.npos)
      fail<DataError>(path, ":", lines.size() + 1,
                      ": holds a zero byte, so it is not plain text; save it as UTF-8 (iconv -t UTF-8)");
    lines.push_back(is_utf8(line) ? std::string(line) : from_latin1(line));
  }
  return lines;
}

}  // namespace lamina
