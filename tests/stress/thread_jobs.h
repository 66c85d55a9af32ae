#pragma once
// Jobs for the threads, of varying kinds and numbers of shares, each checked: every share ran exactly once,
// before its job returned, and no share of any other job ran meanwhile.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "core/threads/parallel.h"

namespace lamina::test {

/// The jobs of one caller. Several of them may run at once, each on its own thread.
class ThreadJobs {
 public:
  explicit ThreadJobs(std::uint64_t seed) : random_(seed * 2 + 1) {}

  /// Runs `count` jobs and counts them in `progress`, which several callers may share. Members all need their
  /// threads at once, and wait for them on few cores; so only one job in `share_jobs` is a job of members.
  void run(std::uint64_t count, std::atomic<std::uint64_t>& progress, unsigned share_jobs = 4096) {
    for (std::uint64_t i = 0; i < count; ++i) {
      ++job_;
      const std::uint64_t kind = draw();
      if (kind % share_jobs == 1)
        members_that_meet();
      else if (kind % 1024 == 2)
        share_that_throws();
      else
        shares(kind % 16 == 4);
      if (kind % 1024 == 3)
        std::this_thread::sleep_for(std::chrono::microseconds(draw() % 200));  // the helpers fall asleep
      progress.fetch_add(1, std::memory_order_relaxed);
    }
  }

  std::uint64_t wrong() const { return wrong_; }

 private:
  static constexpr std::size_t most_shares = 64;

  std::uint64_t draw() {
    random_ = random_ * 6364136223846793005U + 1442695040888963407U;
    return random_ >> 33;
  }

  std::size_t changing_count() { return 1 + draw() % static_cast<std::size_t>(threads() + 3); }

  static void spend(std::uint64_t rounds) {
    for (volatile std::uint64_t round = 0; round < rounds;) round = round + 1;
  }

  void ran(std::size_t share) {
    if (last_job_[share].exchange(job_, std::memory_order_relaxed) == job_) ++wrong_;  // the second time
  }

  void check_all_ran(std::size_t count) {
    for (std::size_t share = 0; share < most_shares; ++share)
      if ((last_job_[share].load(std::memory_order_relaxed) == job_) != (share < count)) ++wrong_;
  }

  void shares(bool nested) {
    const std::size_t count = changing_count() + (nested ? 1 : 0);  // a single share runs as if outside
    const std::uint64_t length = draw() % 128;
    for_each_share(count, [this, nested, length](std::size_t share) {
      spend(length);
      if (nested) {
        std::size_t inner = 0;  // only this thread uses it: nested work runs on the calling thread
        for_each_share(3, [&](std::size_t) { ++inner; });
        if (inner != 3 || !inside_share()) ++wrong_;
      }
      ran(share);
    });
    check_all_ran(count);
  }

  void members_that_meet() {
    const auto most = static_cast<std::size_t>(threads());
    const std::size_t count = 1 + draw() % most;
    std::array<std::uint64_t, most_shares> written{};  // no atomics: the barrier orders them
    for_each_member(count, [&](std::size_t member) {
      for (std::uint64_t round = 1; round <= 2; ++round) {
        written[member] = round;
        barrier();
        for (std::size_t other = 0; other < count; ++other)
          if (written[other] != round) ++wrong_;
        barrier();
      }
      ran(member);
    });
    check_all_ran(count);
  }

  void share_that_throws() {
    const std::size_t count = 2 + draw() % static_cast<std::size_t>(threads() + 2);
    const std::size_t chosen = draw() % count;
    bool caught = false;
    try {
      for_each_share(count, [&](std::size_t share) {
        if (share == chosen) throw share;
      });
    } catch (const std::size_t share) {
      caught = share == chosen;
    }
    if (!caught) ++wrong_;
  }

  std::uint64_t random_, job_ = 0;
  std::atomic<std::uint64_t> wrong_{0};
  std::array<std::atomic<std::uint64_t>, most_shares> last_job_{};
};

}  // namespace lamina::test
