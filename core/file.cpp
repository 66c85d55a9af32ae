#include "core/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "core/error.h"

namespace lamina {

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail<DataError>(path, ": cannot be read (", std::strerror(errno), "); check the path");
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write_file(const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".new";
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool ok = file >= 0;
  while (ok && !bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    ok = count > 0;
    if (ok) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  ok = ok && fsync(file) == 0;
  const int reason = errno;
  if (file >= 0) close(file);
  if (ok && std::rename(temporary.c_str(), path.c_str()) == 0) return;
  const int error = ok ? errno : reason;
  if (file >= 0) std::remove(temporary.c_str());
  fail<DataError>(path, ": cannot be written (", std::strerror(error),
                  "); free some space or choose another folder");
}

}  // namespace lamina
