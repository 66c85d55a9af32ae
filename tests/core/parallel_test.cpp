// Splitting loops over threads.

#include "core/parallel.h"

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "tests/check.h"

using namespace lamina;

TEST_CASE("parallel_for covers every index once, for any count, grain and alignment") {
  for (const int team : {1, 2, 3})
    for (const size_t count : {0U, 1U, 2U, 15U, 16U, 17U, 100U, 1001U})
      for (const size_t grain : {0U, 1U, 7U, 500U, 5000U})
        for (const size_t align : {1U, 16U, 64U}) {
          set_threads(team);
          std::vector<int> visits(count);
          std::atomic<bool> aligned{true};
          parallel_for(
              count, grain,
              [&](size_t begin, size_t end) {
                if (begin % align != 0) aligned = false;
                for (size_t i = begin; i < end; ++i) ++visits[i];
              },
              align);
          CHECK(aligned);
          CHECK(std::ranges::count(visits, 1) == static_cast<long>(count));
        }
  set_threads(0);
}

TEST_CASE("small work, and work inside a parallel region, stays on its thread") {
  set_threads(2);
  int calls = 0;
  parallel_for(100, 51, [&](size_t, size_t) { ++calls; });
  CHECK(calls == 1);
  std::atomic<int> nested{0};
  for_each_share(2, [&](size_t) { parallel_for(100, 1, [&](size_t, size_t) { ++nested; }); });
  CHECK(nested == 2);
  set_threads(0);
}

TEST_CASE("set_threads: the count is kept, 0 means one per core") {
  set_threads(3);
  CHECK(threads() == 3);
  set_threads(0);
  CHECK(threads() == static_cast<int>(std::thread::hardware_concurrency()));
}

TEST_CASE("denormal numbers are flushed on every thread") {
  set_threads(2);
  const volatile float small = 1e-38F;
  std::atomic<int> zeros{0};
  for_each_member(2, [&](size_t) {
    if (small * 0.1F == 0) ++zeros;
  });
#if defined(__SSE2__)
  CHECK(zeros.load() == 2);
#endif
  set_threads(0);
}

TEST_CASE("every share is done once, whoever takes it, job after job") {
  for (const int team : {1, 2, 4}) {
    set_threads(team);
    bool once = true;
    for (int job = 0; job < 2000; ++job) {
      std::array<std::atomic<int>, 4> done{};
      for_each_share(done.size(), [&](size_t share) { ++done[share]; });
      once = once && std::ranges::all_of(done, [](const auto& times) { return times == 1; });
    }
    CHECK(once);
  }
  set_threads(0);
}

TEST_CASE("members run at the same time and meet at barriers") {
  set_threads(3);
  for (int job = 0; job < 50; ++job) {
    std::array<int, 3> written{};
    std::atomic<bool> all_seen{true};
    for_each_member(3, [&](size_t member) {
      for (int round = 1; round <= 3; ++round) {
        written[member] = round;
        barrier();
        if (std::ranges::count(written, round) != 3) all_seen = false;
        barrier();
      }
    });
    CHECK(all_seen);
  }
  set_threads(0);
}

TEST_CASE("two threads of a program may both share work out") {
  set_threads(2);
  std::atomic<int> total{0};
  const auto many = [&] {
    for (int job = 0; job < 500; ++job) for_each_share(2, [&](size_t) { ++total; });
  };
  std::thread other(many);
  many();
  other.join();
  CHECK(total == 2000);
  set_threads(0);
}
