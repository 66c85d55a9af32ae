#include "core/distributed/machine/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "core/error.h"

namespace lamina::distributed {

namespace {

double number_of(const Descriptor& file) {
  struct stat status {};
  return ::fstat(file.number(), &status) == 0 ? static_cast<double>(status.st_ino) : -1;
}

std::byte* checked(void* mapped) {
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(mapped);
}

}  // namespace

size_t page_size() {
  static const auto size = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

size_t whole_pages(size_t bytes) { return (bytes + page_size() - 1) / page_size() * page_size(); }

Descriptor make_memory_file(size_t bytes) {
  Descriptor file(::memfd_create("lamina", MFD_CLOEXEC));
  if (file.number() >= 0 && ::ftruncate(file.number(), static_cast<off_t>(bytes)) != 0) return Descriptor(-1);
  return file;
}

MemoryFileAddress address_of(const Descriptor& file) {
  return {static_cast<double>(::getpid()), static_cast<double>(file.number()), number_of(file)};
}

Descriptor open_memory_file(const MemoryFileAddress& address) {
  if (address.descriptor < 0) return Descriptor(-1);
  const std::string path =
      text("/proc/", static_cast<long>(address.process), "/fd/", static_cast<long>(address.descriptor));
  Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  return file.number() >= 0 && number_of(file) == address.number ? std::move(file) : Descriptor(-1);
}

std::byte* map_file(const Descriptor& file, size_t begin, size_t bytes) {
  return checked(
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), static_cast<off_t>(begin)));
}

void replace_by_file(std::byte* place, const Descriptor& file, size_t begin, size_t bytes) {
  checked(::mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.number(),
                 static_cast<off_t>(begin)));
}

/// In pieces, so that no more than one exists twice.
void replace_by_copy(std::byte* place, size_t bytes) {
  constexpr size_t piece = size_t{2} << 20;
  for (size_t begin = 0; begin < bytes; begin += piece) {
    const size_t size = std::min(piece, bytes - begin);
    std::byte* const copy =
        checked(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::memcpy(copy, place + begin, size);
    checked(::mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, place + begin));
  }
}

}  // namespace lamina::distributed
