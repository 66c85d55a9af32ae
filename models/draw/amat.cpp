#include "models/draw/amat.h"

#include <algorithm>
#include <string_view>

#include "core/error.h"
#include "core/files/file.h"

namespace lamina::draw {

namespace {

constexpr std::string_view blanks = " \t\r";
constexpr size_t largest_file = size_t{1} << 30;
constexpr const char* remedy = "; download it again";

/// The text up to the next blank, shortened when it is long or not text at all.
std::string quoted(std::string_view rest) {
  std::string token(rest.substr(0, std::min(rest.find_first_of(blanks), size_t{20})));
  for (char& letter : token)
    if (letter < ' ' || letter > '~') letter = '?';
  return "'" + token + "'";
}

void read_line(std::string_view line, const std::string& path, size_t number, size_t columns,
               std::vector<std::uint8_t>& pixels) {
  size_t count = 0;
  for (size_t at = 0; at < line.size(); ++at) {
    if (blanks.find(line[at]) != std::string_view::npos) continue;
    const bool alone = at + 1 == line.size() || blanks.find(line[at + 1]) != std::string_view::npos;
    if (!alone || (line[at] != '0' && line[at] != '1'))
      fail<DataError>(path, ": line ", number, ": ", quoted(line.substr(at)), " where 0 or 1 is expected",
                      remedy);
    if (++count <= columns) pixels.push_back(line[at] == '1' ? 1 : 0);
  }
  if (count != columns)
    fail<DataError>(path, ": line ", number, ": has ", count, " columns, not ", columns, remedy);
}

}  // namespace

std::vector<std::uint8_t> read_amat(const std::string& path, size_t columns) {
  const std::string bytes = read_file(path, largest_file);
  std::string_view rest = bytes;
  while (!rest.empty() && (rest.back() == '\n' || rest.back() == '\r')) rest.remove_suffix(1);
  if (rest.empty()) fail<DataError>(path, ": line 1: the file is empty", remedy);
  std::vector<std::uint8_t> pixels;
  pixels.reserve(bytes.size() / 2 + 1);
  for (size_t number = 1;; ++number) {
    const size_t end = rest.find('\n');
    read_line(rest.substr(0, end), path, number, columns, pixels);
    if (end == std::string_view::npos) return pixels;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace lamina::draw
