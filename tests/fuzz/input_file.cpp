#include "tests/fuzz/input_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace lamina::fuzz {

namespace {

/// Makes `bytes` the whole content of an open file.
void replace(int number, std::string_view bytes) {
  const bool done = ::ftruncate(number, 0) == 0 &&
                    ::pwrite(number, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
  if (!done) throw std::runtime_error("fuzz: no memory for an input");
}

}  // namespace

const std::string& file_with(std::string_view bytes) {
  static const int number = ::memfd_create("input", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(number);
  replace(number, bytes);
  return path;
}

InputFolder::InputFolder() : path_("/dev/shm/lamina-fuzz-XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("fuzz: cannot create " + path_);
}

InputFolder::~InputFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void InputFolder::put(const char* name, std::string_view bytes) const {
  const int number = ::open((path_ + '/' + name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  replace(number, bytes);
  ::close(number);
}

}  // namespace lamina::fuzz
