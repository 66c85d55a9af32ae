#include "models/text/lines.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string_view>
#include <system_error>

#include "core/error.h"
#include "core/files/files_read.h"
#include "core/files/folder.h"
#include "core/math/digest.h"
#include "models/text/gutenberg.h"
#include "models/text/utf8.h"

namespace lamina {

namespace {

/// `line` up to its last whole character; where it is not UTF-8 as it is.
std::string_view whole_characters(std::string_view line) {
  constexpr size_t longest_character = 4;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  for (size_t cut = 0; cut < std::min(longest_character, line.size()); ++cut)
    if (!continues(line[line.size() - 1 - cut])) {
      if (is_utf8(line.substr(line.size() - 1 - cut))) return line;
      return cut + 1 < line.size() ? line.substr(0, line.size() - 1 - cut) : line;
    }
  return line;
}

/// Or of a study, whose runs have a log before they have anything else. A config.json alone may be another program's.
bool is_run(const std::string& folder) {
  if (exists(folder + "/study.json")) return true;
  return exists(folder + "/config.json") && (exists(folder + "/metrics.csv") || exists(folder + "/data.txt"));
}

/// Whether a file below `folder` is in the folder of a run, or below one.
bool is_of_run(const std::string& folder, const std::string& file) {
  const auto parent = [](const std::string& path) {
    return std::filesystem::path(path).parent_path().string();
  };
  for (std::string path = parent(file); path.size() > folder.size(); path = parent(path))
    if (is_run(path)) return true;
  return false;
}

}  // namespace

LineReader::LineReader(const std::string& path, size_t position, size_t longest, size_t end,
                       OneByteText one_byte)
    : path_(path),
      file_(path),
      position_(position),
      longest_(longest),
      end_(std::min(end, file_.bytes().size())),
      one_byte_(one_byte) {
  if (position_ == 0) position_ = file_.bytes().size() - without_byte_order_mark(file_.bytes()).size();
  if (position == 0 && position_ == file_.bytes().size())
    fail<DataError>(path, ": is empty; download it again");
}

bool LineReader::next(std::string& text) {
  const size_t from = std::min(position_, end_);
  const std::string_view rest = file_.bytes().substr(from, end_ - from);
  if (rest.empty()) return false;
  std::string_view line = rest.substr(0, rest.find('\n'));
  const size_t begin = position_;
  if (line.size() > longest_) {
    line = line.substr(0, longest_);
    const size_t space = line.rfind(' ');
    line = space != line.npos && space > 0 ? line.substr(0, space) : whole_characters(line);
    position_ += line.size();
  } else {
    position_ += std::min(line.size() + 1, rest.size());
  }
  while (line.ends_with('\r')) line.remove_suffix(1);
  if (line.find('\0') != line.npos)
    fail<DataError>(path_, ":", 1 + std::ranges::count(file_.bytes().substr(0, begin), '\n'),
                    ": holds a zero byte, so it is not plain text; save it as UTF-8 (iconv -t UTF-8)");
  text = is_utf8(line) ? std::string(line) : one_byte_(line);
  return true;
}

std::vector<std::string> read_lines(const std::string& path, OneByteText one_byte) {
  LineReader reader(path, 0, LineReader::unlimited, LineReader::unlimited, one_byte);
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> texts_below(const std::string& folder) {
  std::vector<std::string> texts = files_below(folder, ".txt");
  std::erase_if(texts, [&](const std::string& text) { return is_of_run(folder, text); });
  return texts;
}

void require_different(const std::vector<std::string>& paths) {
  constexpr size_t longest = size_t{1} << 20;
  const FilesRead apart;  // a comparison is no reading of data
  std::map<std::uint64_t, std::string> of_digest;
  for (const std::string& path : paths) {
    std::error_code unreadable;  // the reader will say so, and that it is empty
    if (std::filesystem::file_size(path, unreadable) == 0 || unreadable) continue;
    std::uint64_t digest = 0;
    const MappedFile file(path);
    const PartOfText part = without_notices(file.bytes(), path);  // the notices name the encoding
    LineReader reader(path, part.begin, longest, part.end);
    for (std::string line; reader.next(line);)
      if (!line.empty()) digest = digest_of(std::as_bytes(std::span(line)), digest);
    if (digest == 0) continue;  // no line with anything in it
    const auto [other, is_new] = of_digest.try_emplace(digest, path);
    if (!is_new) fail<DataError>(path, ": is the same text as ", other->second, "; leave one of them out");
  }
}

}  // namespace lamina
