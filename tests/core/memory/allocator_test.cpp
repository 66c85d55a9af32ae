// The caching allocator: alignment, reuse, statistics, trim.

#include "core/memory/allocator.h"

#include <cstring>
#include <new>

#include "core/memory/cached_vector.h"
#include "tests/check.h"

using namespace lamina;

TEST_CASE("pool: every size is aligned and writable") {
  for (size_t bytes = 0; bytes < 5000; bytes += bytes < 300 ? 1 : 37) {
    void* const block = pool::allocate(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(block) % 64 == 0);
    if (bytes > 0) std::memset(block, 1, bytes);
    pool::release(block, bytes);
  }
  const size_t large = (size_t{5} << 20) + 3;
  void* const block = pool::allocate(large);
  std::memset(block, 1, large);
  pool::release(block, large);
}

TEST_CASE("pool: a released block is handed out again, also for a little less") {
  pool::release(pool::allocate(1000), 1000);
  const size_t asked = pool::statistics().system_allocations;
  void* const first = pool::allocate(1000);
  pool::release(first, 1000);
  void* const second = pool::allocate(990);
  CHECK(first == second);
  pool::release(second, 990);
  CHECK(pool::statistics().system_allocations == asked);
}

TEST_CASE("pool: statistics count what is in use and what is cached") {
  const pool::Statistics before = pool::statistics();
  void* const block = pool::allocate(100000);
  const pool::Statistics during = pool::statistics();
  CHECK(during.bytes_in_use >= before.bytes_in_use + 100000);
  CHECK(during.bytes_in_use <= before.bytes_in_use + 125000);  // at most a fifth is wasted
  pool::release(block, 100000);
  const pool::Statistics after = pool::statistics();
  CHECK(after.bytes_in_use == before.bytes_in_use);
  CHECK(after.bytes_in_use + after.bytes_cached == during.bytes_in_use + during.bytes_cached);
}

TEST_CASE("pool: at most a fifth of a block is wasted, beyond one cache line") {
  for (size_t bytes = 1; bytes < (size_t{1} << 22); bytes += 1 + bytes / 17) {
    const size_t before = pool::statistics().bytes_in_use;
    void* const block = pool::allocate(bytes);
    const size_t given = pool::statistics().bytes_in_use - before;
    CHECK(given >= bytes);
    CHECK(given < bytes + bytes / 4 + 64);
    pool::release(block, bytes);
  }
}

TEST_CASE("pool: trim gives everything cached back") {
  pool::release(pool::allocate(100000), 100000);
  CHECK(pool::statistics().bytes_cached >= 100000);
  const size_t used = pool::statistics().bytes_in_use;
  pool::trim();
  CHECK(pool::statistics().bytes_cached == 0);
  CHECK(pool::statistics().bytes_in_use == used);
  const size_t asked = pool::statistics().system_allocations;
  pool::release(pool::allocate(100000), 100000);
  CHECK(pool::statistics().system_allocations == asked + 1);
}

TEST_CASE("pool: what cannot be had is bad_alloc and leaves the statistics alone") {
  const pool::Statistics before = pool::statistics();
  CHECK_THROWS_AS(pool::allocate(static_cast<size_t>(-1)), std::bad_alloc);
  CHECK(pool::statistics().bytes_in_use == before.bytes_in_use);
  pool::release(nullptr, 100);
  CHECK(pool::statistics().bytes_in_use == before.bytes_in_use);
}

TEST_CASE("pool vectors return their memory") {
  const size_t before = pool::statistics().bytes_in_use;
  {
    PoolVector<int> values;
    for (int i = 0; i < 1000; ++i) values.push_back(i);
    CHECK(values[999] == 999);
  }
  CHECK(pool::statistics().bytes_in_use == before);
}
