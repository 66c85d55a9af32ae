#pragma once
// Threads: how many, and how a loop is split over them.
//
// A parallel region costs about half a microsecond, so small work stays on the calling thread. The split
// depends only on the thread count and the size, which keeps results repeatable for a given `--threads`.

#include <omp.h>

#include <algorithm>
#include <cstddef>

namespace lamina {

/// Uses `count` threads from here on (0: one per core) and makes each of them flush denormal numbers to zero:
/// they carry no information in training and cost up to a hundred cycles an operation.
void set_threads(int count);

/// The number of threads in use.
int threads();

/// Elementwise work below this many cheap elements a thread is not worth a parallel region (measured).
inline constexpr std::size_t elementwise_grain = 16384;

/// Calls `body(begin, end)` on disjoint ranges that cover [0, count), in parallel when every thread gets at
/// least `grain` items. Ranges start at multiples of `align`. An exception must not leave `body`.
template <class Body>
void parallel_for(std::size_t count, std::size_t grain, const Body& body, std::size_t align = 1) {
  const int team = threads();
  const std::size_t workers =
      std::min(count / std::max<std::size_t>(grain, 1), static_cast<std::size_t>(team));
  if (workers <= 1 || omp_in_parallel()) {
    if (count > 0) body(std::size_t{0}, count);
    return;
  }
  const std::size_t share = ((count + workers - 1) / workers + align - 1) / align * align;
#pragma omp parallel num_threads(team)
  {
    // The loop, because OpenMP may give fewer threads than were asked for (OMP_THREAD_LIMIT, OMP_DYNAMIC).
    const auto stride = share * static_cast<std::size_t>(omp_get_num_threads());
    for (auto begin = share * static_cast<std::size_t>(omp_get_thread_num()); begin < count; begin += stride)
      body(begin, std::min(count, begin + share));
  }
}

}  // namespace lamina
