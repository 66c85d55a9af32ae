// Scratch memory: one place for each purpose and share, kept from one use to the next.

#include "core/memory/workspace.h"

#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include "tests/check.h"

using namespace lamina;

namespace {
struct Rows;
struct Columns;
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
