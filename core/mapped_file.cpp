#include "core/mapped_file.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/file.h"

namespace lamina {

MappedFile::MappedFile(const std::string& path) {
  const Descriptor file = open_to_read(path);
  struct stat status;
  void* memory = MAP_FAILED;
  if (::fstat(file.number(), &status) == 0) {
    if (status.st_size == 0) return;  // nothing to map, which the system would refuse
    memory = ::mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file.number(), 0);
  }
  if (memory == MAP_FAILED)
    fail<DataError>(path, ": cannot be mapped: ", std::strerror(errno), "; check the disk or ulimit -v");
  bytes_ = {static_cast<const char*>(memory), static_cast<size_t>(status.st_size)};
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace lamina
