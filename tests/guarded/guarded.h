#pragma once
// Memory between two unmapped pages: a read or write past its end, or before its beginning, ends the program
// at once. Sanitizers miss such reads where a kernel loads a vector under a mask, and guard cells cannot
// detect reads at all.

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <new>

#include "core/real.h"

namespace lamina::test {

/// The end of a block that touches an unmapped page. The other end is less than a page away from one.
enum class Against { end, beginning };

namespace guarded {

inline size_t page() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}
inline size_t mapped(size_t bytes) { return (bytes + page() - 1) / page() * page() + 2 * page(); }

inline void* allocate(size_t bytes, Against against) {
  const size_t all = mapped(bytes);
  void* const map = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) throw std::bad_alloc();
  char* const inside = static_cast<char*>(map) + page();
  const size_t room = all - 2 * page();
  if (room > 0 && mprotect(inside, room, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  return against == Against::end ? inside + room - bytes : inside;
}

/// A block of allocate(bytes).
inline void release(void* block, size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(block) / page() * page();
  munmap(reinterpret_cast<void*>(address - page()), mapped(bytes));
}

}  // namespace guarded

/// `size` numbers between unmapped pages.
class GuardedNumbers {
 public:
  GuardedNumbers(size_t size, Against against)
      : size_(size), data_(static_cast<real*>(guarded::allocate(size * sizeof(real), against))) {}
  ~GuardedNumbers() { guarded::release(data_, size_ * sizeof(real)); }
  GuardedNumbers(const GuardedNumbers&) = delete;
  GuardedNumbers& operator=(const GuardedNumbers&) = delete;
  real* data() { return data_; }
  const real* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  size_t size_;
  real* data_;
};

}  // namespace lamina::test
