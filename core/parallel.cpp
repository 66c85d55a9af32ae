#include "core/parallel.h"

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace lamina {

namespace {

void flush_denormals_on_this_thread() {
#if defined(__SSE2__)
  constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
  _mm_setcsr(_mm_getcsr() | flush_to_zero | denormals_are_zero);
#endif
}

void relax() {
#if defined(__SSE2__)
  _mm_pause();
#endif
}

/// Waits until ready(): a few microseconds for itself, then giving others the core.
template <class Ready>
void wait_until(const Ready& ready) {
  constexpr int rounds_before_yielding = 400;
  for (int round = 0; !ready(); ++round) {
    if (round < rounds_before_yielding)
      relax();
    else
      sched_yield();
  }
}

thread_local bool in_share = false;

/// The threads beside the caller, and the one job that they work on at a time.
///
/// A job is announced by a ticket: the number of the job in the high half, the next share to take in the low
/// one. Taking a share is one compare-and-swap on the ticket, which fails when the job is over; so a thread
/// that comes late never touches what belongs to the next job.
class Team {
 public:
  explicit Team(size_t helpers) {
    for (size_t i = 0; i < helpers; ++i) threads_.emplace_back([this] { help(); });
  }

  ~Team() {
    leaving_ = true;
    ticket_.fetch_add(job_unit);
    ticket_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  /// With `one_each`, a thread takes at most one share and all shares run at the same time.
  void run(size_t shares, detail::ShareFunction function, const void* body, bool one_each) {
    function_.store(function, std::memory_order_relaxed);
    body_.store(body, std::memory_order_relaxed);
    shares_.store(shares, std::memory_order_relaxed);
    one_each_.store(one_each, std::memory_order_relaxed);
    done_.store(0, std::memory_order_relaxed);
    const std::uint64_t job = (ticket_.load(std::memory_order_relaxed) / job_unit + 1) * job_unit;
    ticket_.store(job);
    if (sleeping_.load() > 0) ticket_.notify_all();
    work(job);
    wait_until([&] { return done_.load(std::memory_order_acquire) == shares; });
  }

  /// A barrier of the members of the job under way.
  void meet() {
    const size_t members = shares_.load(std::memory_order_relaxed);
    const size_t round = barrier_round_.load(std::memory_order_acquire);
    if (barrier_arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == members) {
      barrier_arrived_.store(0, std::memory_order_relaxed);
      barrier_round_.fetch_add(1, std::memory_order_release);
    } else {
      wait_until([&] { return barrier_round_.load(std::memory_order_acquire) != round; });
    }
  }

 private:
  static constexpr std::uint64_t job_unit = std::uint64_t{1} << 32;

  /// Takes shares of this job until none is left.
  void work(std::uint64_t job) {
    in_share = true;
    std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
    for (;;) {
      const auto function = function_.load(std::memory_order_relaxed);
      const void* const body = body_.load(std::memory_order_relaxed);
      const bool one_each = one_each_.load(std::memory_order_relaxed);
      const auto share = static_cast<size_t>(ticket % job_unit);
      if (ticket / job_unit != job / job_unit || share >= shares_.load(std::memory_order_relaxed)) break;
      if (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel)) continue;
      function(body, share);
      done_.fetch_add(1, std::memory_order_acq_rel);
      if (one_each) break;
      ticket = ticket_.load(std::memory_order_acquire);
    }
    in_share = false;
  }

  /// What a helper does: watches for the next job for some tens of microseconds, about as long as the caller
  /// is busy between two products of a training step, then sleeps until there is one.
  void help() {
    flush_denormals_on_this_thread();
    constexpr int rounds_before_sleeping = 2000;
    std::uint64_t seen = 0;
    while (!leaving_) {
      std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
      for (int round = 0; ticket / job_unit == seen && round < rounds_before_sleeping; ++round) {
        relax();
        ticket = ticket_.load(std::memory_order_acquire);
      }
      if (ticket / job_unit == seen) {
        ++sleeping_;
        ticket_.wait(ticket);
        --sleeping_;
        continue;
      }
      seen = ticket / job_unit;
      if (!leaving_) work(ticket);
    }
  }

  std::atomic<std::uint64_t> ticket_{0};
  std::atomic<detail::ShareFunction> function_{nullptr};
  std::atomic<const void*> body_{nullptr};
  std::atomic<size_t> shares_{0}, done_{0}, barrier_arrived_{0}, barrier_round_{0};
  std::atomic<bool> one_each_{false}, leaving_{false};
  std::atomic<int> sleeping_{0};
  std::vector<std::thread> threads_;
};

int thread_count = 0;
std::mutex team_mutex;  // held by the thread whose job the team works on
Team* team = nullptr;   // not destroyed at exit: its threads may be waiting, and the system ends them

}  // namespace

void set_threads(int count) {
  const std::lock_guard lock(team_mutex);
  const int wanted = count > 0 ? count : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  flush_denormals_on_this_thread();
  if (wanted == thread_count) return;
  delete team;
  thread_count = wanted;
  team = wanted > 1 ? new Team(static_cast<size_t>(wanted - 1)) : nullptr;
}

int threads() {
  if (thread_count == 0) set_threads(0);
  return thread_count;
}

bool inside_share() { return in_share; }

void barrier() { team->meet(); }

namespace detail {

void run_shares(size_t shares, ShareFunction function, const void* body) {
  const std::unique_lock lock(team_mutex, std::try_to_lock);
  if (lock.owns_lock() && team != nullptr) {
    team->run(shares, function, body, false);
    return;
  }
  // Another thread of the program has the team: this one works alone.
  for (size_t share = 0; share < shares; ++share) function(body, share);
}

void run_together(size_t members, ShareFunction function, const void* body) {
  const std::lock_guard lock(team_mutex);
  team->run(members, function, body, true);
}

}  // namespace detail

}  // namespace lamina
