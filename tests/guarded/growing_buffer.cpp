// The growing buffer of the program that `make guarded` runs: linked instead of core/memory/growing_buffer.cpp, it
// puts every block against an unmapped page until join() is called. LAMINA_AGAINST=beginning selects the
// other end.

#include "core/memory/growing_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string_view>

#include "tests/guarded/guarded.h"

namespace lamina {

namespace {

size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

GrowingBuffer::~GrowingBuffer() {
  if (begin_ != nullptr) munmap(map_, mapped_);
}

void GrowingBuffer::reserve() {
  room_ = size_t{8} << 30;
  mapped_ = parts_ * room_ + (size_t{1} << 30);  // the parts are shifted by less than the first block
  map_ = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map_ == MAP_FAILED) throw std::bad_alloc();
  begin_ = static_cast<std::byte*>(map_);
}

/// Each block has its own pages, followed by one that is not mapped. The first begins where its part begins.
size_t GrowingBuffer::add(size_t bytes) {
  if (begin_ == nullptr) reserve();
  const char* const against = std::getenv("LAMINA_AGAINST");
  const bool at_end = against == nullptr || std::string_view(against) != "beginning";
  const size_t page = test::guarded::page(), own = round_up(bytes, page), spare = at_end ? own - bytes : 0;
  if (usable_ == 0) begin_ += page + spare;
  const std::uintptr_t shift =
      reinterpret_cast<std::uintptr_t>(begin_) % page;     // of parts into their first page
  const size_t first = usable_ == 0 ? 0 : usable_ + page;  // of the pages, as all below
  for (size_t i = 0; own > 0 && i < parts_; ++i)
    if (mprotect(part(i) - shift + first, own, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  usable_ = std::max(first + own, page);
  const size_t begin = first + spare - shift;
  size_ = round_up(begin + bytes, 64);
  return begin;
}

void GrowingBuffer::join() {
  const std::uintptr_t shift = reinterpret_cast<std::uintptr_t>(begin_) % test::guarded::page();
  for (size_t i = 0; usable_ > 0 && i < parts_; ++i)
    if (mprotect(part(i) - shift, usable_ + test::guarded::page(), PROT_READ | PROT_WRITE) != 0)
      throw std::bad_alloc();
}

}  // namespace lamina
