#include "core/threads/parallel.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "core/files/control_groups.h"
#include "core/files/number.h"
#include "core/threads/team.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace lamina {

namespace {

void flush_denormals_on_this_thread() {
#if defined(__SSE2__)
  constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
  _mm_setcsr(_mm_getcsr() | flush_to_zero | denormals_are_zero);
#elif defined(__aarch64__)
  constexpr std::uint64_t flush_to_zero = 1U << 24U;  // FPCR.FZ: results and operands
  std::uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  asm volatile("msr fpcr, %0" : : "r"(control | flush_to_zero));
#endif
}

/// On every thread that starts work, whoever made it: otherwise results would depend on who takes a share.
void flush_denormals_once() {
  static constinit thread_local bool done = false;
  if (std::exchange(done, true)) return;
  flush_denormals_on_this_thread();
}

std::atomic<int> thread_count = 0;  // 0: not chosen yet
std::mutex team_mutex;              // held by the thread whose job the team works on
detail::Team<>* team =
    nullptr;  // not destroyed at exit: its threads may be waiting, and the system ends them

/// The value of LAMINA_THREADS; 0 where it is unset or empty.
int threads_in_environment() {
  const char* const variable = std::getenv("LAMINA_THREADS");
  if (variable == nullptr || *variable == 0) return 0;
  constexpr int most = 1024;
  const std::string_view digits(variable);
  const int count = number_from<int>(digits).value_or(0);
  if (count < 1 || count > most)
    fail("LAMINA_THREADS=", digits, ": is no whole number from 1 to ", most,
         "; unset it to have one thread per core");
  return count;
}

int threads_to_use(int count) {
  if (count == 0) count = threads_in_environment();
  return count > 0 ? count : usable_cores();
}

/// In the child of a fork(), which has the calling thread alone: no helper is left, and no thread that might hold the
/// mutex. The first loop of the child starts another team.
void forget_team() {
  team = nullptr;
  std::construct_at(&team_mutex);
}

/// The team, where more than one thread is in use. The caller holds the mutex.
detail::Team<>* started_team() {
  const int count = thread_count.load(std::memory_order_relaxed);
  if (team != nullptr || count < 2) return team;
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, forget_team);
  return team = new detail::Team<>(static_cast<size_t>(count - 1), flush_denormals_on_this_thread);
}

}  // namespace

int usable_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  // It fails where the machine has more cores than the set.
  const bool known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
  const int cores =
      std::max(1, known ? CPU_COUNT(&allowed) : static_cast<int>(std::thread::hardware_concurrency()));
  // A thread beyond the quota only has all of them wait for the next period.
  const double quota = std::ceil(cpu_quota(control_groups("cpu")));
  return quota < cores ? static_cast<int>(quota) : cores;
}

void set_threads(int count) {
  if (inside_share()) fail("set_threads: called inside a share; call it between jobs");
  if (count < 0) fail("set_threads: ", count, " threads; name how many, or 0 for one per core");
  const int wanted = threads_to_use(count);
  const std::lock_guard lock(team_mutex);
  flush_denormals_once();
  if (wanted == thread_count) return;
  delete std::exchange(team, nullptr);
  try {
    thread_count = wanted;
    started_team();
  } catch (...) {
    thread_count = 1;
    throw;
  }
}

int threads() {
  flush_denormals_once();
  if (thread_count.load(std::memory_order_relaxed) == 0) set_threads(0);
  return thread_count.load(std::memory_order_relaxed);
}

bool inside_share() { return detail::place.inside; }

size_t share_slot() { return detail::place.slot; }

void barrier() {
  const size_t members = detail::place.members;
  if (members == 0) fail("barrier: called outside of for_each_member");
  if (members > 1) team->meet(members);
}

namespace detail {

void run_shares(size_t shares, ShareFunction function, const void* body) {
  threads();  // the first loop of a program sets the team up
  const std::unique_lock lock(team_mutex, std::try_to_lock);
  Team<>* const helped = lock.owns_lock() && shares <= Team<>::most_shares ? started_team() : nullptr;
  if (helped != nullptr) {
    helped->run({.function = function, .body = body, .shares = shares});
    return;
  }
  // Another thread of the program has the team, or there is none: this one works alone, with separate scratch
  // memory.
  const AtPlace here({.inside = true});
  for (size_t share = 0; share < shares; ++share) function(body, share);
}

void run_together(size_t members, ShareFunction function, const void* body) {
  if (inside_share()) fail("for_each_member: called inside a share, where its members could not all run");
  threads();
  const std::lock_guard lock(team_mutex);
  const auto most = static_cast<size_t>(thread_count.load());
  if (members > most) fail("for_each_member: ", members, " members need as many threads, not ", most);
  if (members > 1) {
    started_team()->run({.function = function, .body = body, .shares = members, .together = true});
  } else if (members == 1) {
    const AtPlace here({.inside = true, .slot = 1, .members = 1});
    function(body, 0);
  }
}

}  // namespace detail

}  // namespace lamina
