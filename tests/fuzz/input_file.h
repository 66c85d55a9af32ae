#pragma once
// Files that targets read: in memory, since a fuzzing run writes a hundred million of them.

#include <string>
#include <string_view>

namespace lamina::fuzz {

/// The path of a file with this content. There is one such file: the next call replaces its content.
const std::string& file_with(std::string_view bytes);

/// A folder in memory with files of chosen names; removed when the program ends.
class InputFolder {
 public:
  InputFolder();
  InputFolder(const InputFolder&) = delete;
  InputFolder& operator=(const InputFolder&) = delete;
  ~InputFolder();

  const std::string& path() const { return path_; }
  void put(const char* name, std::string_view bytes) const;

 private:
  std::string path_;
};

}  // namespace lamina::fuzz
