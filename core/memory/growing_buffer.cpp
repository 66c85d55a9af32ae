#include "core/memory/growing_buffer.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <new>

namespace lamina {

namespace {

constexpr size_t alignment = 64, unit = size_t{64} << 10, huge_page = size_t{2} << 20;

size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

/// The bytes to reserve if the system grants them.
size_t wanted() {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t memory = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * page;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return memory;
  size_t pages = 0;  // of address space in use
  std::ifstream("/proc/self/statm") >> pages;
  const auto allowed = static_cast<size_t>(limit.rlim_cur);
  return std::min(memory, (allowed - std::min(pages * page, allowed)) / 2);
}

}  // namespace

GrowingBuffer::~GrowingBuffer() {
  if (begin_ != nullptr) munmap(map_, mapped_);
}

void GrowingBuffer::reserve() {
  const size_t most = room_ > 0 ? parts_ * round_up(room_, huge_page) : wanted();
  for (size_t bytes = most; bytes >= parts_ * huge_page; bytes /= 2) {
    room_ = bytes / parts_ / huge_page * huge_page;
    mapped_ = parts_ * room_ + huge_page;
    map_ = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map_ == MAP_FAILED) continue;
    const auto address = reinterpret_cast<std::uintptr_t>(map_);
    begin_ = static_cast<std::byte*>(map_) + (round_up(address, huge_page) - address);
    return;
  }
  throw std::bad_alloc();
}

size_t GrowingBuffer::add(size_t bytes) {
  if (begin_ == nullptr) reserve();
  const size_t begin = size_;
  if (bytes > room_ - begin) throw std::bad_alloc();
  const size_t end = begin + round_up(bytes, alignment);
  const size_t target = round_up(end, end < huge_page ? unit : huge_page);
  for (size_t i = 0; target > usable_ && i < parts_; ++i) {
    if (mprotect(part(i) + usable_, target - usable_, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    // Fewer TLB misses in the big matrices.
    if (target >= huge_page) madvise(part(i), target, MADV_HUGEPAGE);
  }
  usable_ = std::max(usable_, target);
  size_ = end;
  return begin;
}

void GrowingBuffer::join() {}

}  // namespace lamina
