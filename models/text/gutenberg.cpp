#include "models/text/gutenberg.h"

#include <algorithm>
#include <array>

#include "core/error.h"
#include "models/text/utf8.h"

namespace lamina {

namespace {

/// Whether a line is a mark of three stars, which older books write without the space.
bool is_mark(std::string_view line, std::string_view words) {
  constexpr std::string_view stars = "***";
  if (!line.starts_with(stars)) return false;
  line.remove_prefix(stars.size());
  return line.starts_with(words) || (line.starts_with(' ') && line.substr(1).starts_with(words));
}

/// "End of the Project Gutenberg EBook of", and as it was written over the years.
bool ends_text(std::string_view line) {
  constexpr std::array<std::string_view, 4> articles{"", "the ", "The ", "this "};
  constexpr std::string_view begin = "End of ";
  if (!line.starts_with(begin)) return false;
  line.remove_prefix(begin.size());
  return std::ranges::any_of(articles, [&](std::string_view article) {
    return line.starts_with(article) && line.substr(article.size()).starts_with("Project Gutenberg");
  });
}

/// "*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*": the end of a licence that books of those years have
/// before the text, and later ones behind it.
bool ends_small_print(std::string_view line) {
  return line.starts_with("*END*THE SMALL PRINT!") || line.starts_with("*END THE SMALL PRINT!");
}

/// Sees a file's lines, each with the place where it begins and that of the next one.
class Notices {
 public:
  Notices(const std::string& path, size_t end) : path_(path), end_(end) {}

  void see(std::string_view line, size_t at, size_t next) {
    const bool begins = is_mark(line, "START OF"), small_print = ends_small_print(line);
    if ((begins && (begun_ || ended_)) || (small_print && small_print_))
      fail<DataError>(path_, ": holds several books of Project Gutenberg; put each into a file of its own");
    if (begins || (small_print && !ended_ && next <= end_ / 2)) begin_ = next;
    begun_ |= begins;
    small_print_ |= small_print;
    const bool ends = is_mark(line, "END OF") || ends_text(line);
    if (ends && !ended_) end_ = at;
    ended_ |= ends;
  }

  PartOfText between() const { return {std::min(begin_, end_), end_}; }

 private:
  const std::string& path_;
  size_t begin_ = 0, end_;
  bool begun_ = false, ended_ = false, small_print_ = false;
};

}  // namespace

std::span<const std::string> without_notices(std::span<const std::string> lines, const std::string& path) {
  Notices notices(path, lines.size());
  for (size_t i = 0; i < lines.size(); ++i) notices.see(lines[i], i, i + 1);
  const auto [begin, end] = notices.between();
  return lines.subspan(begin, end - begin);
}

PartOfText without_notices(std::string_view file, const std::string& path) {
  Notices notices(path, file.size());
  for (size_t at = file.size() - without_byte_order_mark(file).size(), next = 0; at < file.size();
       at = next) {
    const std::string_view line = file.substr(at, file.find('\n', at) - at);
    next = std::min(file.size(), at + line.size() + 1);
    notices.see(line, at, next);
  }
  return notices.between();
}

}  // namespace lamina
