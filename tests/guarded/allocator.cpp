// The allocator of the program that `make guarded` runs: linked instead of core/memory/allocator.cpp, it puts every tensor and
// every scratch buffer against an unmapped page. LAMINA_AGAINST=beginning selects the other end.

#include "core/memory/allocator.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "tests/guarded/guarded.h"

namespace lamina::memory {

namespace {

std::atomic<size_t> in_use{0}, allocations{0};

test::Against against() {
  static const test::Against chosen = [] {
    const char* const name = std::getenv("LAMINA_AGAINST");
    return name != nullptr && std::string_view(name) == "beginning" ? test::Against::beginning
                                                                    : test::Against::end;
  }();
  return chosen;
}

}  // namespace

void* allocate(size_t bytes) {
  if (bytes > (size_t{1} << 46)) throw std::bad_alloc();
  in_use += bytes;
  ++allocations;
  return test::guarded::allocate(bytes, against());
}

void release(void* block, size_t bytes) {
  if (block == nullptr) return;
  in_use -= bytes;
  test::guarded::release(block, bytes);
}

Statistics statistics() {
  return {.bytes_in_use = in_use, .bytes_cached = 0, .system_allocations = allocations};
}

void trim() {}

}  // namespace lamina::memory
