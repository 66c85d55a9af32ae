#pragma once
// A file as memory: its pages are read when they are first accessed, so a file may be larger than the memory.

#include <string>
#include <string_view>

namespace lamina {

class MappedFile {
 public:
  /// Errors as for `open_to_read`. The file must not shrink while it is mapped: the system kills programs
  /// that read past its end.
  explicit MappedFile(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

}  // namespace lamina
