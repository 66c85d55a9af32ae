#pragma once
// Running text as a list of sentences.

#include <string>
#include <string_view>
#include <vector>

#include "models/text/lines.h"

namespace lamina {

/// The sentences of a paragraph in UTF-8, whose lines may end anywhere. A sentence ends after . ! or ? and
/// closing quotes, unless the next word begins with a small letter; not after titles and initials ("Mr. J.
/// Bennet"). In text without capitals, sentences end where a mark ends a line. Returns views into the
/// paragraph.
std::vector<std::string_view> split_sentences(std::string_view paragraph);

/// A book from beginning to end, paragraph by paragraph: lines up to an empty one. Keeps one paragraph in
/// memory.
class ParagraphReader {
 public:
  /// As LineReader.
  explicit ParagraphReader(const std::string& path, size_t position = 0, size_t end = LineReader::unlimited);

  /// The next paragraph, never an empty one, with its line ends; or false at the end. One of more than 64 KB
  /// is returned in parts of at most twice that in the file.
  bool next(std::string& paragraph);

  /// Where the next one begins, in bytes.
  size_t position() const { return lines_.position(); }

 private:
  LineReader lines_;
};

}  // namespace lamina
