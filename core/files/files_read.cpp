#include "core/files/files_read.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/files/file.h"
#include "core/math/digest.h"

namespace lamina {

namespace {

thread_local FilesRead* current = nullptr;

constexpr size_t piece = size_t{1} << 20, most_pieces = 64;

/// Of whole pieces, as many as are compared, and of the rest behind the last one.
std::uint64_t digest_of_file(const std::string& path, const Descriptor& file, size_t size) {
  std::vector<std::byte> bytes(piece);
  std::uint64_t digest = 0;
  const size_t pieces = (size + piece - 1) / piece, compared = std::min(pieces, most_pieces);
  for (size_t i = 0; i < compared; ++i) {
    const size_t number = compared == pieces ? i : i * (pieces - 1) / (compared - 1);
    const ssize_t got = ::pread(file.number(), bytes.data(), piece, static_cast<off_t>(number * piece));
    if (got < 0) fail_to_read(path, errno);
    digest = digest_of(std::span(bytes).first(static_cast<size_t>(got)), digest);
  }
  return digest;
}

}  // namespace

FilesRead::FilesRead() : enclosing_(std::exchange(current, this)) {}
FilesRead::~FilesRead() { current = enclosing_; }

void FilesRead::note(const std::string& path) {
  if (current != nullptr) current->paths_.push_back(path);
}

std::string FilesRead::contents() {
  const std::vector<std::string> paths = std::exchange(paths_, {});
  const FilesRead again;  // notes them instead of this
  std::string lines;
  for (const std::string& path : paths) {
    const Descriptor file = open_to_read(path);
    const size_t size = size_of(path, file);
    lines += text(path, ": ", size, " bytes, digest ", std::hex, digest_of_file(path, file, size), '\n');
  }
  return lines;
}

}  // namespace lamina
