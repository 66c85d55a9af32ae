#include "models/text/word_vectors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_set>

#include "core/error.h"
#include "core/files/mapped_file.h"
#include "core/files/number.h"
#include "models/text/utf8.h"

namespace lamina {

namespace {

constexpr const char* remedy =
    "; give a word2vec file, text or binary, whose first line is the number of words and the width";
constexpr size_t widest = 100000;  // numbers in a vector, far above any real file

/// Removes the next field and the spaces after it from a line; returns the field.
std::string_view take_field(std::string_view& line) {
  constexpr std::string_view blank = " \t\r";
  const std::string_view field = line.substr(0, line.find_first_of(blank));
  line.remove_prefix(field.size());
  line.remove_prefix(std::min(line.find_first_not_of(blank), line.size()));
  return field;
}

/// What both formats share: the first line, and the words that are kept.
class Reader {
 public:
  Reader(const std::string& path, const std::function<bool(std::string_view)>& wanted)
      : path_(path), wanted_(wanted), file_(path), rest_(file_.bytes()) {
    std::string_view header = take_line();
    count_ = number_from<size_t>(take_field(header)).value_or(0);
    vectors_.width = number_from<size_t>(take_field(header)).value_or(0);
    if (!header.empty() || count_ == 0 || vectors_.width == 0 || vectors_.width > widest)
      fail<DataError>(path_, ":1: is not the first line of word vectors", remedy);
  }

  WordVectors read() {
    const bool binary = is_binary();
    for (size_t i = 0; i < count_; ++i) binary ? take_binary(i) : take_text(i);
    if (rest_.find_first_not_of(" \t\r\n") != rest_.npos)
      fail<DataError>(path_, ": holds more than the ", count_, " words of its first line; download it again");
    return std::move(vectors_);
  }

 private:
  /// The text up to a line's end, without it.
  std::string_view take_line() {
    const std::string_view line = rest_.substr(0, rest_.find('\n'));
    rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
    return line;
  }

  /// The bytes of floating-point numbers soon include ones that do not occur in text.
  bool is_binary() const {
    constexpr size_t enough = 4096;
    return std::ranges::any_of(rest_.substr(0, enough), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t';
    });
  }

  [[noreturn]] void fail_cut_off(size_t done) const {
    fail<DataError>(path_, ": ends after ", done, " of the ", count_,
                    " words of its first line; download it again");
  }

  void take_text(size_t index) {
    if (rest_.empty()) fail_cut_off(index);
    std::string_view line = take_line();
    const std::string_view word = take_field(line);
    bool valid = !word.empty();
    if (begin_word(word)) {
      size_t numbers = 0;
      for (; valid && !line.empty(); ++numbers) {
        const auto value = number_from(take_field(line));
        valid = numbers < vectors_.width && value && add(*value);
      }
      valid = valid && numbers == vectors_.width;
    }
    if (!valid)
      fail<DataError>(path_, ":", index + 2, ": is not a word and ", vectors_.width, " finite numbers",
                      remedy);
  }

  void take_binary(size_t index) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of('\n'), rest_.size()));
    const size_t space = rest_.find(' '), bytes = vectors_.width * sizeof(float);
    if (space == rest_.npos || rest_.size() - space - 1 < bytes) fail_cut_off(index);
    const std::string_view word = rest_.substr(0, space);
    const char* from = rest_.data() + space + 1;
    rest_.remove_prefix(space + 1 + bytes);
    if (!begin_word(word)) return;
    for (size_t i = 0; i < vectors_.width; ++i, from += sizeof(float)) {
      float value = 0;
      std::memcpy(&value, from, sizeof value);
      if (!add(static_cast<double>(value)))
        fail<DataError>(path_, ": number ", i + 1, " of word ", index + 1,
                        " is not finite; download it again");
    }
  }

  /// Whether the word's numbers are needed.
  bool begin_word(std::string_view bytes) {
    std::string word = is_utf8(bytes) ? std::string(bytes) : from_windows_1252(bytes);
    if (word.empty() || !wanted_(word) || !seen_.insert(word).second) return false;
    vectors_.words.push_back(std::move(word));
    return true;
  }

  /// Whether the number is finite.
  bool add(double value) {
    vectors_.values.push_back(static_cast<real>(value));
    return std::isfinite(vectors_.values.back());
  }

  std::string path_;
  const std::function<bool(std::string_view)>& wanted_;
  MappedFile file_;
  std::string_view rest_;
  size_t count_ = 0;
  WordVectors vectors_;
  std::unordered_set<std::string> seen_;
};

}  // namespace

WordVectors read_word_vectors(const std::string& path,
                              const std::function<bool(std::string_view word)>& wanted) {
  return Reader(path, wanted).read();
}

}  // namespace lamina
