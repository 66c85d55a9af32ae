#pragma once
// Threads: how many, and how work is shared among them.
//
// Work is cut into as many shares as there are threads. Whoever is free takes the next share: the caller
// starts at once, the others join as soon as the system lets them run, and on a machine whose cores are busy
// with something else the caller ends up doing all shares itself instead of waiting. (An OpenMP region waits:
// with one other busy process a step of a small model took fifty times as long.) What a share computes
// depends only on its number, so results do not depend on who took it; they repeat for a given number of
// threads.
//
// Several threads of a program may start parallel work at the same time. One of them gets the helpers, the
// others run all their shares themselves. The child of a fork() starts helpers of its own; call fork() outside of shares.

#include <cstddef>

namespace lamina {

/// The cores that the calling thread may run on: of the machine's those that taskset, a container or mpirun leaves it, and no
/// more than the quota of its control group pays for, rounded up.
int usable_cores();

/// Uses `count` threads from here on; 0, the default: as many as the environment variable LAMINA_THREADS says (1 to
/// 1024), else one for each of usable_cores(). Each, and each thread of the program that calls the library, flushes
/// denormal numbers to zero: they carry no information in training and cost up to a hundred cycles per operation. Waits
/// for a job that another thread is running; work that such a thread has already split for more threads may then be
/// refused, so call it while nothing computes. Throws Error inside a share, for a negative count or an invalid
/// LAMINA_THREADS, and when the system refuses to start a thread: then one thread is in use.
void set_threads(int count);

/// The number of threads in use.
int threads();

/// Whether the caller runs inside a share: nested work then runs on the calling thread. A single share counts as none.
bool inside_share();

/// 1 + the number of the share that the caller runs inside; 0 outside of shares, and in shares that a thread
/// runs alone because another one has the helpers: no two threads have the same number other than 0 at the
/// same time. So scratch memory kept per share has the same size in every step of a training loop, whichever
/// thread takes the share.
std::size_t share_slot();

/// Elementwise work below this many cheap elements per share is not worth the half microsecond that it costs
/// to hand it over (measured).
inline constexpr std::size_t elementwise_grain = 16384;

/// How many items a share should have at least, for parallel_for and shares_of, when each item consists of `elements`
/// and a share is worth it from `worth` of them on: fewer than elementwise_grain where they are not cheap.
constexpr std::size_t grain_of(std::size_t elements, std::size_t worth = elementwise_grain) {
  return worth / (elements + 1) + 1;
}

namespace detail {
using ShareFunction = void (*)(const void* body, std::size_t share);
void run_shares(std::size_t shares, ShareFunction function, const void* body);
void run_together(std::size_t members, ShareFunction function, const void* body);
}  // namespace detail

/// body(share) for every share in [0, shares), each on some thread, in any order. The first exception that
/// leaves a share is rethrown here as soon as no share runs any more; whether the other shares have run is
/// unspecified.
template <class Body>
void for_each_share(std::size_t shares, const Body& body) {
  if (shares <= 1 || inside_share()) {
    for (std::size_t share = 0; share < shares; ++share) body(share);
    return;
  }
  detail::run_shares(
      shares, [](const void* self, std::size_t share) { (*static_cast<const Body*>(self))(share); }, &body);
}

/// body(member) on `members` <= threads() threads that run at the same time, so that they may wait for each
/// other at a barrier(). When an exception leaves one member, the others leave at their next barrier, or the
/// one at which they wait, and the exception is thrown here. Throws an Error inside a share, and when there are
/// too few threads.
template <class Body>
void for_each_member(std::size_t members, const Body& body) {
  detail::run_together(
      members, [](const void* self, std::size_t member) { (*static_cast<const Body*>(self))(member); },
      &body);
}

/// Waits until all members of the for_each_member that this thread runs in have called it; each member must
/// call it equally often. Throws Error outside of a for_each_member.
void barrier();

struct Range {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

/// Part number `index` of [0, count) cut into `parts` pieces that start at multiples of `unit`.
inline Range part_of(std::size_t count, std::size_t index, std::size_t parts, std::size_t unit = 1) {
  const std::size_t share = ((count + parts - 1) / parts + unit - 1) / unit * unit;
  const std::size_t begin = index * share, end = begin + share;
  return {begin < count ? begin : count, end < count ? end : count};
}

/// How many shares [0, count) makes when each should have at least `grain` items: 1 to threads().
inline std::size_t shares_of(std::size_t count, std::size_t grain) {
  const std::size_t worth = count / (grain > 0 ? grain : 1);
  const std::size_t most = inside_share() ? 1 : static_cast<std::size_t>(threads());
  if (worth > most) return most;
  return worth > 1 ? worth : 1;
}

/// Calls `body(begin, end)` on disjoint ranges that cover [0, count), in parallel when every share gets at
/// least `grain` items. Ranges start at multiples of `align`. Exceptions as in for_each_share.
template <class Body>
void parallel_for(std::size_t count, std::size_t grain, const Body& body, std::size_t align = 1) {
  const std::size_t shares = shares_of(count, grain);
  for_each_share(shares, [&](std::size_t share) {
    const Range range = part_of(count, share, shares, align);
    if (range.size() > 0) body(range.begin, range.end);
  });
}

/// body(i) for every i in [0, count): a loop that is vectorized and, when long enough, spread over threads.
/// Iterations must not depend on each other.
template <class Body>
void for_each_index(std::size_t count, const Body& body) {
  parallel_for(
      count, elementwise_grain,
      [&](std::size_t begin, std::size_t end) {
#pragma omp simd
        for (std::size_t i = begin; i < end; ++i) body(i);
      },
      16);
}

}  // namespace lamina
