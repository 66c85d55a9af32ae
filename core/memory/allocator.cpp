#include "core/memory/allocator.h"

#include <sys/mman.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

namespace lamina::memory {

namespace {

constexpr size_t alignment = 64;
constexpr size_t huge_page = size_t{2} << 20;

// Size classes: four steps to each power of two, so that at most a fifth of a block is wasted.
struct SizeClass {
  size_t index, bytes;
};

SizeClass size_class(size_t bytes) {
  const size_t units = (bytes + alignment - 1) / alignment;
  if (units <= 8) return {units, units * alignment};
  const auto exponent = static_cast<size_t>(std::bit_width(units - 1)) - 1;  // 2^exponent < units
  const size_t step = size_t{1} << (exponent - 2);
  const size_t steps = (units - (size_t{1} << exponent) + step - 1) / step;  // 1..4
  return {4 * exponent + steps, ((size_t{1} << exponent) + steps * step) * alignment};
}

struct FreeBlock {
  FreeBlock* next;
};

struct Allocator {
  std::mutex mutex;
  std::array<FreeBlock*, 256> free{};
  Statistics statistics{};
#if defined(__SANITIZE_ADDRESS__)
  bool program_ends = false;
#endif
};

Allocator& instance() {
  // Never destroyed: static tensors may outlive any order of destruction.
  static Allocator* const allocator = [] {
#if defined(__SANITIZE_ADDRESS__)
    // The leak check does not follow the list through poisoned blocks: none may be left in it.
    std::atexit([] {
      instance().program_ends = true;
      trim();
    });
#endif
    return new Allocator;
  }();
  return *allocator;
}

void* from_system(size_t bytes) {
  const bool huge = bytes >= huge_page;
  const size_t unit = huge ? huge_page : alignment;
  void* const block = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
  if (block == nullptr) throw std::bad_alloc();
  if (huge) madvise(block, bytes, MADV_HUGEPAGE);  // fewer TLB misses in the big matrices
  return block;
}

void empty(Allocator& allocator) {  // whose lock the caller holds
  for (FreeBlock*& list : allocator.free) {
    while (list != nullptr) {
      ASAN_UNPOISON_MEMORY_REGION(list, sizeof(FreeBlock));
      FreeBlock* const next = list->next;
      std::free(list);
      list = next;
    }
  }
  allocator.statistics.bytes_cached = 0;
}

}  // namespace

void* allocate(size_t bytes) {
  if (bytes > (size_t{1} << 48)) throw std::bad_alloc();
  const SizeClass size = size_class(bytes == 0 ? 1 : bytes);
  Allocator& allocator = instance();
  const std::lock_guard lock(allocator.mutex);
  FreeBlock*& list = allocator.free[size.index];
  void* block = list;
  if (list == nullptr) {
    block = from_system(size.bytes);
    ++allocator.statistics.system_allocations;
  } else {
    ASAN_UNPOISON_MEMORY_REGION(block, size.bytes);
    list = list->next;
    allocator.statistics.bytes_cached -= size.bytes;
  }
  allocator.statistics.bytes_in_use += size.bytes;
  // Bytes beyond the request stay poisoned, so that a sanitizer build detects loops that run too far.
  ASAN_POISON_MEMORY_REGION(static_cast<char*>(block) + bytes, size.bytes - bytes);
  return block;
}

void release(void* block, size_t bytes) {
  if (block == nullptr) return;
  const SizeClass size = size_class(bytes == 0 ? 1 : bytes);
  Allocator& allocator = instance();
  const std::lock_guard lock(allocator.mutex);
  ASAN_UNPOISON_MEMORY_REGION(block, sizeof(FreeBlock));
  auto* const freed = static_cast<FreeBlock*>(block);
  freed->next = allocator.free[size.index];
  allocator.free[size.index] = freed;
  allocator.statistics.bytes_in_use -= size.bytes;
  allocator.statistics.bytes_cached += size.bytes;
  ASAN_POISON_MEMORY_REGION(freed, size.bytes);
#if defined(__SANITIZE_ADDRESS__)
  if (allocator.program_ends) empty(allocator);
#endif
}

Statistics statistics() {
  Allocator& allocator = instance();
  const std::lock_guard lock(allocator.mutex);
  return allocator.statistics;
}

void trim() {
  Allocator& allocator = instance();
  const std::lock_guard lock(allocator.mutex);
  empty(allocator);
}

}  // namespace lamina::memory
