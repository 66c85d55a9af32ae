#pragma once
// Text files in common encodings: UTF-8 with or without a byte order mark, or Windows-1252, which has Latin-1's
// characters; lines that end in LF or CR LF, or in CR CR LF as where CR LF was written for the LF of CR LF.

#include <string>
#include <vector>

#include "core/files/mapped_file.h"
#include "models/text/utf8.h"

namespace lamina {

/// How a line that is not valid UTF-8 is read: from_windows_1252 or from_latin1.
using OneByteText = std::string (*)(std::string_view bytes);

/// The lines of a file in UTF-8 one by one, without their ends and without a byte order mark; the file may be
/// larger than the memory. A line that is not valid UTF-8 is read as `one_byte` says, in which every line is valid. The last
/// line may lack its end.
class LineReader {
 public:
  static constexpr size_t unlimited = static_cast<size_t>(-1);

  /// Begins at the byte `position`, which must come from position() of another reader of this file or be where a line
  /// begins, and reads up to the byte `end`. Lines of more than `longest` bytes are cut into parts, at a space if there
  /// is one, else between characters. Throws DataError, naming the file and the remedy, when it cannot be read or is empty.
  explicit LineReader(const std::string& path, size_t position = 0, size_t longest = unlimited,
                      size_t end = unlimited, OneByteText one_byte = from_windows_1252);

  /// The next line, or false at the end. Throws DataError, naming the line, for one that holds a zero byte,
  /// as those of UTF-16 and binary files do.
  bool next(std::string& line);

  /// Where the next line begins, in bytes.
  size_t position() const { return position_; }

 private:
  std::string path_;
  MappedFile file_;
  size_t position_, longest_, end_;
  OneByteText one_byte_;
};

/// All lines of a file. Errors as those of LineReader.
std::vector<std::string> read_lines(const std::string& path, OneByteText one_byte = from_windows_1252);

/// The plain texts (*.txt) in a folder and below it, in the order of their names, but for those in folders of runs: their
/// vocabularies and samples are nothing to learn from. Errors as for files_below() of core/files/folder.h.
std::vector<std::string> texts_below(const std::string& folder);

/// Throws DataError, naming both, where two of these files have the same lines, but for empty ones and Project Gutenberg's
/// notices, as copies, links and the same book in another encoding or with other line ends: a model would be tested on what
/// it was trained on.
void require_different(const std::vector<std::string>& paths);

}  // namespace lamina
