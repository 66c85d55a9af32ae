#pragma once
// Memory that other processes of this machine may map: files without a name, which end with the last process that has them.

#include <cstddef>

#include "core/files/file.h"

namespace lamina::distributed {

/// Pages of memory are mapped and shared as a whole.
size_t page_size();
size_t whole_pages(size_t bytes);

/// What a process tells others so that they can open its file. In double, which distributed::gather() can exchange.
struct MemoryFileAddress {
  double process = 0, descriptor = 0;
  double number = 0;  ///< of the file: tells it from one that another process has under this descriptor
};

/// Zeros, which take memory once they are touched. Its number is negative where the system refuses it.
Descriptor make_memory_file(size_t bytes);
MemoryFileAddress address_of(const Descriptor& file);

/// The file of another process, or of this one. Its number is negative where the system does not let us, as between
/// containers.
Descriptor open_memory_file(const MemoryFileAddress& address);

/// Whole pages of a file, from `begin` on; they stay when the file is closed. Throws std::bad_alloc.
std::byte* map_file(const Descriptor& file, size_t begin, size_t bytes);

/// From here on the whole pages at `place` are those of the file, whose content they take.
void replace_by_file(std::byte* place, const Descriptor& file, size_t begin, size_t bytes);

/// From here on the whole pages at `place` are this process's own, with the content that they have.
void replace_by_copy(std::byte* place, size_t bytes);

}  // namespace lamina::distributed
