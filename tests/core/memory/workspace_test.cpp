// Scratch memory: one place for each purpose and share, kept from one use to the next.

#include "core/memory/workspace.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <thread>
#include <vector>

#include "tests/check.h"

using namespace lamina;

namespace {

struct Rows;
struct Columns;

/// Computes when its thread ends, after the scratch memory of the thread has gone if this is older.
struct Late {
  bool& own;  ///< whether its scratch memory is none that others have got since
  ~Late() {
    std::array<void*, 8> others;
    for (void*& each : others) each = std::malloc(1024 * sizeof(real));
    const real* const scratched = scratch<Rows>(1024);
    own = true;
    for (void* const each : others) {
      own = own && each != scratched;
      std::free(each);
    }
  }
};

}  // namespace

TEST_CASE("scratch memory stays where it is, apart from that for another purpose") {
  real* const rows = scratch<Rows>(1000);
  real* const columns = scratch<Columns>(1000);
  CHECK(rows != columns);
  CHECK(reinterpret_cast<std::uintptr_t>(rows) % 64 == 0);
  CHECK(scratch<Rows>(10) == rows);
  CHECK(scratch<Columns>(1000) == columns);
  real* const more = scratch<Rows>(100000);
  more[99999] = 1;
  CHECK(scratch<Rows>(100000) == more);
}

TEST_CASE("scratch memory belongs to a share, whichever thread runs it, and outside of shares to a thread") {
  set_threads(3);
  const auto of_shares = [] {
    std::vector<real*> places(3);
    for_each_share(3, [&](size_t share) { places[share] = scratch<Rows>(100); });
    return places;
  };
  const std::vector<real*> places = of_shares();
  std::set<real*> all(places.begin(), places.end());
  all.insert(scratch<Rows>(100));
  std::thread([&] { all.insert(scratch<Rows>(100)); }).join();
  CHECK(all.size() == 5);
  for (int repeat = 0; repeat < 20; ++repeat) CHECK(of_shares() == places);
  set_threads(0);
}

#if !defined(__SANITIZE_ADDRESS__)  // to which what a thread reserves so late is a leak
TEST_CASE("scratch memory serves destructors that run after it was released") {
  bool own = false;
  std::thread([&] {
    static thread_local const Late late{own};
    scratch<Rows>(1024);
  }).join();
  CHECK(own);
}
#endif
