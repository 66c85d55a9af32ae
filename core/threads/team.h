#pragma once
// Internal to core/threads/parallel.cpp: the threads beside the caller, and the one job that they work on at a time.
//
// One atomic word says what there is to take: how many shares the job has, in its high half, and which of
// them is the next, in its low half.
//
//   the caller   writes the job's fields, then stores the word {count, 0}
//   any thread   takes a share with one compare-and-swap from {count, next} to {count, next + 1}, if next < count;
//                only then does it read the job's fields; when the share has run, it counts it as done
//   the caller   returns when as many shares are done as the job has
//
// Why no share runs twice or with another job's function: a share that is taken and not yet done keeps its
// job open. So from a successful swap until the share is counted nobody writes the fields, and they belong to
// the word that was swapped, which was the latest one. A late thread may hold a word from any number of jobs
// ago. Either its swap fails, or the word of the current job is the same; then it takes a share of the
// current job like any other thread, as it has read nothing yet that depends on the job. Hence the word needs
// no job number that could wrap around.

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/threads/parallel.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace lamina::detail {

/// Where the calling thread is.
struct Place {
  bool inside = false;      ///< a share
  std::size_t slot = 0;     ///< see share_slot()
  std::size_t members = 0;  ///< that may meet at a barrier, 0 outside of for_each_member
};
inline constinit thread_local Place place;

/// Puts the calling thread at a place until the end of a scope.
class AtPlace {
 public:
  explicit AtPlace(Place now) : before_(std::exchange(place, now)) {}
  ~AtPlace() { place = before_; }
  AtPlace(const AtPlace&) = delete;
  AtPlace& operator=(const AtPlace&) = delete;

 private:
  Place before_;
};

/// Waits until ready(): spins for a few microseconds, then yields the core.
template <class Ready>
void wait_until(const Ready& ready) {
  constexpr int rounds_before_yielding = 400;
  for (int round = 0; !ready(); ++round) {
    if (round >= rounds_before_yielding) sched_yield();
#if defined(__SSE2__)
    else
      _mm_pause();
#endif
  }
}

/// The steps of the protocol, each named after the event that has just happened.
enum class Step {
  fields_written,
  announced,
  woken,
  word_read,
  share_taken,
  share_run,
  share_counted,
  nothing_to_take,
  counted_as_asleep,
  arrived_at_barrier,
  all_arrived,
};

/// The library does nothing at each step. The test of the protocol pauses there.
struct NoPauses {
  static void at(Step) {}
};

template <class Pauses = NoPauses>
class Team {
 public:
  struct Job {
    ShareFunction function = nullptr;
    const void* body = nullptr;
    std::size_t shares = 0;
    bool together = false;  ///< all shares run at the same time, each on its own thread
  };
  static constexpr std::size_t most_shares = std::numeric_limits<std::uint32_t>::max();

  /// Starts `helpers` threads, each of which begins with prepare(). An Error when the system refuses one.
  Team(std::size_t helpers, void (*prepare)()) {
    threads_.reserve(helpers);
    try {
      while (threads_.size() < helpers)
        threads_.emplace_back([this, prepare] {
          prepare();
          help();
        });
    } catch (const std::system_error& refused) {
      const std::size_t started = threads_.size();
      leave();
      fail("cannot start ", helpers + 1, " threads: ", refused.code().message(), " after ", started + 1,
           "; ask for fewer");
    }
  }

  ~Team() { leave(); }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// Runs all shares of a job; only one call at a time. The first exception that leaves a share is thrown here
  /// when none of them runs any more.
  void run(const Job& job) {
    job_ = job;
    done_.store(0, std::memory_order_relaxed);
    Pauses::at(Step::fields_written);
    // Both are seq_cst, as are a helper's increment and check before it sleeps: if the caller does not see
    // the helper counted, the helper sees this word.
    word_.store(job.shares * share_count_unit);
    Pauses::at(Step::announced);
    if (sleeping_.load() > 0) word_.notify_all();
    Pauses::at(Step::woken);
    work();
    wait_until([&] { return done_.load(std::memory_order_acquire) == job.shares; });
    if (failed_.load(std::memory_order_relaxed)) rethrow();
  }

  /// A barrier of the members of the job under way. Throws when one of them has left by an exception.
  void meet(std::size_t members) {
    const std::size_t round = barrier_round_.load(std::memory_order_acquire);
    if (round & member_lost) throw MemberLost();
    const bool last = barrier_arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == members;
    Pauses::at(Step::arrived_at_barrier);
    if (last) {
      barrier_arrived_.store(0, std::memory_order_relaxed);
      Pauses::at(Step::all_arrived);
      barrier_round_.fetch_add(1, std::memory_order_release);
    } else {
      wait_until([&] { return barrier_round_.load(std::memory_order_acquire) != round; });
      if (barrier_round_.load(std::memory_order_acquire) & member_lost) throw MemberLost();
    }
  }

 private:
  /// Ends the other members when one is lost. It is never the first exception, so it never reaches the
  /// caller.
  struct MemberLost {};

  static constexpr std::uint64_t share_count_unit = std::uint64_t{1} << 32;
  static constexpr std::uint64_t leaving = 1;  ///< next = 1 of 0 shares, which no job leads to
  static constexpr std::size_t member_lost = ~(~std::size_t{0} >> 1);

  static std::size_t next_of(std::uint64_t word) { return word % share_count_unit; }
  static bool all_taken(std::uint64_t word) { return next_of(word) >= word / share_count_unit; }

  /// Takes shares until none is left.
  void work() {
    std::uint64_t word = word_.load(std::memory_order_acquire);
    while (!all_taken(word)) {
      Pauses::at(Step::word_read);
      if (!word_.compare_exchange_weak(word, word + 1, std::memory_order_acq_rel, std::memory_order_acquire))
        continue;
      Pauses::at(Step::share_taken);
      run_share(next_of(word));
      // A thread that has run its member waits until all are taken, so it cannot take another one.
      if (job_.together) wait_until([&] { return all_taken(word_.load(std::memory_order_acquire)); });
      Pauses::at(Step::share_run);
      done_.fetch_add(1, std::memory_order_acq_rel);
      Pauses::at(Step::share_counted);
      word = word_.load(std::memory_order_acquire);
    }
  }

  void run_share(std::size_t share) {
    const AtPlace here({.inside = true, .slot = share + 1, .members = job_.together ? job_.shares : 0});
    try {
      job_.function(job_.body, share);
    } catch (...) {
      if (!failed_.exchange(true)) error_ = std::current_exception();
      barrier_round_.fetch_or(member_lost);
    }
  }

  [[noreturn]] void rethrow() {
    failed_.store(false, std::memory_order_relaxed);
    barrier_arrived_.store(0, std::memory_order_relaxed);
    barrier_round_.store(0, std::memory_order_relaxed);
    std::rethrow_exception(std::exchange(error_, nullptr));
  }

  /// What a helper does: watches for the next job for some tens of microseconds, about as long as the caller
  /// is busy between two products of a training step, then sleeps until there is one.
  void help() {
    constexpr int rounds_before_sleeping = 2000;
    for (;;) {
      std::uint64_t word = word_.load(std::memory_order_acquire);
      for (int round = 0; all_taken(word) && word != leaving && round < rounds_before_sleeping; ++round) {
#if defined(__SSE2__)
        _mm_pause();
#endif
        word = word_.load(std::memory_order_acquire);
      }
      if (word == leaving) return;
      if (all_taken(word)) {
        Pauses::at(Step::nothing_to_take);
        ++sleeping_;
        Pauses::at(Step::counted_as_asleep);
        word_.wait(word);
        --sleeping_;
      } else {
        work();
      }
    }
  }

  void leave() {
    word_.store(leaving);
    word_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  // All that taking a share touches lies in one cache line.
  alignas(64) std::atomic<std::uint64_t> word_{0};
  Job job_;
  std::atomic<std::size_t> done_{0};
  std::atomic<int> sleeping_{0};
  std::atomic<bool> failed_{false};
  alignas(64) std::atomic<std::size_t> barrier_arrived_{0}, barrier_round_{0};
  std::exception_ptr error_;  // written by the share that set failed_
  std::vector<std::thread> threads_;
};

}  // namespace lamina::detail
