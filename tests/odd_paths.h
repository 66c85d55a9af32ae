#pragma once
// Paths that do not name a readable file.

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

namespace lamina {

struct OddPath {
  std::string path;
  std::string complaint;  ///< what a reader's error says after the path
};

/// A socket in the file system, which remains when the program that made it closes it.
inline void make_socket(const std::string& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const int number = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error("too long a name: " + path);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  if (::bind(number, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("cannot make the socket " + path);
  ::close(number);
}

/// One of each kind, in a folder; the file names end in `ending`.
inline std::vector<OddPath> odd_paths(const TemporaryFolder& folder, const std::string& ending = "") {
  namespace fs = std::filesystem;
  const auto path = [&](const std::string& name) { return folder / (name + ending); };
  ::mkfifo(path("fifo").c_str(), 0600);
  make_socket(path("socket"));
  fs::create_directory(path("folder"));
  fs::create_symlink(path("loop"), path("loop"));
  fs::create_symlink("/dev/zero", path("zero"));
  fs::create_symlink("/dev/full", path("full"));
  return {{path("fifo"), "cannot be read: it is a FIFO; name a regular file"},
          {path("socket"), "cannot be read: it is a socket; name a regular file"},
          {path("folder"), "cannot be read: it is a folder; name a file in it"},
          {path("zero"), "cannot be read: it is a device; name a regular file"},
          {path("full"), "cannot be read: it is a device; name a regular file"},
          {path("loop"),
           "cannot be read: Too many levels of symbolic links; remove the link that leads back to itself"},
          {path(std::string(300, 'n')), "cannot be read: File name too long; choose a shorter name"},
          {path("none"), "cannot be read: No such file or directory; check the name"}};
}

}  // namespace lamina
