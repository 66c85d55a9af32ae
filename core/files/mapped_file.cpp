#include "core/files/mapped_file.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/files/file.h"

namespace lamina {

MappedFile::MappedFile(const std::string& path) {
  const Descriptor file = open_to_read(path);
  const size_t size = size_of(path, file);
  if (size == 0) return;  // nothing to map, which the system would refuse
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (memory == MAP_FAILED)
    fail<DataError>(path, ": cannot be mapped: ", std::strerror(errno), "; check the disk or ulimit -v");
  bytes_ = {static_cast<const char*>(memory), size};
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace lamina
