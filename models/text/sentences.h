#pragma once
// Running text as a list of sentences.

#include <string>
#include <string_view>
#include <vector>

#include "models/text/lines.h"

namespace lamina {

/// The sentences of a paragraph in UTF-8, whose lines may end anywhere. A sentence ends behind . ! or ? and
/// closing quotes, where what follows does not begin with a small letter; not behind titles and initials
/// ("Mr. J. Bennet"). Text without capitals has its sentences' ends where a mark ends a line. Views into it.
std::vector<std::string_view> split_sentences(std::string_view paragraph);

/// A book from beginning to end, paragraph by paragraph: lines up to an empty one. Keeps one in memory.
class ParagraphReader {
 public:
  /// As LineReader.
  explicit ParagraphReader(const std::string& path, size_t position = 0);

  /// The next paragraph, never an empty one, with its line ends; or false at the end. One of more than 64 KB
  /// comes in parts of at most twice that.
  bool next(std::string& paragraph);

  /// Where the next one begins, in bytes.
  size_t position() const { return lines_.position(); }

 private:
  LineReader lines_;
};

}  // namespace lamina
