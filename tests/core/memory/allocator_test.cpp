// The caching allocator: alignment, reuse, statistics, trim.

#include "core/memory/allocator.h"

#include <cstring>
#include <new>

#include "core/memory/cached_vector.h"
#include "tests/check.h"

using namespace lamina;

TEST_CASE("allocator: every size is aligned and writable") {
  for (size_t bytes = 0; bytes < 5000; bytes += bytes < 300 ? 1 : 37) {
    void* const block = memory::allocate(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(block) % 64 == 0);
    if (bytes > 0) std::memset(block, 1, bytes);
    memory::release(block, bytes);
  }
  const size_t large = (size_t{5} << 20) + 3;
  void* const block = memory::allocate(large);
  std::memset(block, 1, large);
  memory::release(block, large);
}

TEST_CASE("allocator: a released block is handed out again, also for a little less") {
  memory::release(memory::allocate(1000), 1000);
  const size_t asked = memory::statistics().system_allocations;
  void* const first = memory::allocate(1000);
  memory::release(first, 1000);
  void* const second = memory::allocate(990);
  CHECK(first == second);
  memory::release(second, 990);
  CHECK(memory::statistics().system_allocations == asked);
}

TEST_CASE("allocator: statistics count what is in use and what is cached") {
  const memory::Statistics before = memory::statistics();
  void* const block = memory::allocate(100000);
  const memory::Statistics during = memory::statistics();
  CHECK(during.bytes_in_use >= before.bytes_in_use + 100000);
  CHECK(during.bytes_in_use <= before.bytes_in_use + 125000);  // at most a fifth is wasted
  memory::release(block, 100000);
  const memory::Statistics after = memory::statistics();
  CHECK(after.bytes_in_use == before.bytes_in_use);
  CHECK(after.bytes_in_use + after.bytes_cached == during.bytes_in_use + during.bytes_cached);
}

TEST_CASE("allocator: at most a fifth of a block is wasted, beyond one cache line") {
  for (size_t bytes = 1; bytes < (size_t{1} << 22); bytes += 1 + bytes / 17) {
    const size_t before = memory::statistics().bytes_in_use;
    void* const block = memory::allocate(bytes);
    const size_t given = memory::statistics().bytes_in_use - before;
    CHECK(given >= bytes);
    CHECK(given < bytes + bytes / 4 + 64);
    memory::release(block, bytes);
  }
}

TEST_CASE("allocator: trim gives everything cached back") {
  memory::release(memory::allocate(100000), 100000);
  CHECK(memory::statistics().bytes_cached >= 100000);
  const size_t used = memory::statistics().bytes_in_use;
  memory::trim();
  CHECK(memory::statistics().bytes_cached == 0);
  CHECK(memory::statistics().bytes_in_use == used);
  const size_t asked = memory::statistics().system_allocations;
  memory::release(memory::allocate(100000), 100000);
  CHECK(memory::statistics().system_allocations == asked + 1);
}

TEST_CASE("allocator: what cannot be had is bad_alloc and leaves the statistics alone") {
  const memory::Statistics before = memory::statistics();
  CHECK_THROWS_AS(memory::allocate(static_cast<size_t>(-1)), std::bad_alloc);
  CHECK(memory::statistics().bytes_in_use == before.bytes_in_use);
  memory::release(nullptr, 100);
  CHECK(memory::statistics().bytes_in_use == before.bytes_in_use);
}

TEST_CASE("cached vectors return their memory") {
  const size_t before = memory::statistics().bytes_in_use;
  {
    CachedVector<int> values;
    for (int i = 0; i < 1000; ++i) values.push_back(i);
    CHECK(values[999] == 999);
  }
  CHECK(memory::statistics().bytes_in_use == before);
}
