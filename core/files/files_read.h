#pragma once
// Which files were read, and what was in them: so that processes on several machines can tell whether they have the same
// data.
//
//   FilesRead files;
//   ... load ...
//   distributed::require_same("the data", files.contents());

#include <string>
#include <vector>

namespace lamina {

/// Notes the files that this thread opens with open_to_read() while it lives; in one inside of another, the inner one.
class FilesRead {
 public:
  FilesRead();
  ~FilesRead();
  FilesRead(const FilesRead&) = delete;
  FilesRead& operator=(const FilesRead&) = delete;

  /// A line for each since the last call, in the order in which they were opened: its path, its size and a digest of its
  /// bytes; of a file of more than 64 MB, of 64 MB in pieces that are spread evenly. Throws DataError for one that can no
  /// longer be read.
  std::string contents();

  /// What open_to_read() calls.
  static void note(const std::string& path);

 private:
  std::vector<std::string> paths_;
  FilesRead* enclosing_;
};

}  // namespace lamina
