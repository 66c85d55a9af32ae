// Splitting loops over threads.

#include "core/parallel.h"

#include <atomic>
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
#pragma omp parallel num_threads(2)
  parallel_for(100, 1, [&](size_t, size_t) { ++nested; });
  CHECK(nested == 2);
  set_threads(0);
}

TEST_CASE("set_threads: the count is kept, 0 means one per core") {
  set_threads(3);
  CHECK(threads() == 3);
  set_threads(0);
  CHECK(threads() == omp_get_num_procs());
}

TEST_CASE("denormal numbers are flushed on every thread") {
  set_threads(2);
  const volatile float small = 1e-38F;
  std::atomic<int> zeros{0};
#pragma omp parallel num_threads(2)
  if (small * 0.1F == 0) ++zeros;
#if defined(__SSE2__)
  CHECK(zeros == 2);
#endif
  set_threads(0);
}
