// The protocol by which threads take shares, with pauses inserted at its steps: they simulate a thread that
// the system suspends at a bad moment until the others have finished the job and begun the next ones.

#include "core/threads/team.h"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <new>
#include <set>
#include <thread>
#include <type_traits>

#include "tests/stress/watchdog.h"

using namespace lamina;
using detail::Step;

namespace {

constexpr int steps = static_cast<int>(Step::all_arrived) + 1;

/// Pauses threads at one step, or at all of them, now and then; each thread draws how often and how long.
struct Pauses {
  static inline std::atomic<int> chosen{-1};  // a step; `steps` for all
  static inline std::array<std::atomic<int>, steps> taken{};

  static void at(Step step) {
    const int which = static_cast<int>(step), now = chosen;
    if (now != which && now != steps) return;
    static thread_local std::uint64_t random =
        std::hash<std::thread::id>()(std::this_thread::get_id()) * 2 + 1;
    random = random * 6364136223846793005U + 1442695040888963407U;
    const std::uint64_t drawn = random >> 33;
    if (drawn % (now == steps ? 8 : 3) != 0) return;
    ++taken[static_cast<std::size_t>(which)];
    if (drawn % 2 == 0)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(1 + drawn / 8 % 64));
  }
};

using PausedTeam = detail::Team<Pauses>;

void run(PausedTeam& team, std::size_t shares, bool together, const auto& body) {
  using Body = std::remove_cvref_t<decltype(body)>;
  team.run({.function = [](const void* self, std::size_t share) { (*static_cast<const Body*>(self))(share); },
            .body = &body,
            .shares = shares,
            .together = together});
}

/// How often each share of a job ran. Kept beyond its job, so that a late share is seen as well.
using Counts = std::array<std::atomic<int>, 8>;

bool each_once(const Counts& counts, std::size_t shares) {
  for (std::size_t share = 0; share < counts.size(); ++share)
    if (counts[share] != (share < shares ? 1 : 0)) return false;
  return true;
}

/// Jobs of varying numbers of shares, some of them `together`; with occasional waits, so that helpers fall
/// asleep.
void many_jobs(PausedTeam& team, std::size_t threads, std::atomic<std::uint64_t>& progress) {
  constexpr std::size_t jobs = 60;
  std::deque<Counts> counts(jobs);
  for (std::size_t job = 0; job < jobs; ++job) {
    const bool together = job % 5 == 4;
    const std::size_t shares = together ? 1 + job % threads : 1 + job * 5 % 8;
    run(team, shares, together, [&, own = &counts[job]](std::size_t share) {
      if (together) team.meet(shares);
      ++(*own)[share];
      if (together) team.meet(shares);
      if (together && !each_once(*own, shares)) ++(*own)[share];  // counts as wrong
    });
    CHECK(each_once(counts[job], shares));
    if (job % 16 == 15) std::this_thread::sleep_for(std::chrono::microseconds(300));
    ++progress;
  }
  for (std::size_t job = 0; job < jobs; ++job)
    CHECK(each_once(counts[job], job % 5 == 4 ? 1 + job % threads : 1 + job * 5 % 8));
}

void nothing_to_prepare() {}

}  // namespace

TEST_CASE("team: with pauses at any one step, or at all, every share runs once and nobody waits for ever") {
  std::atomic<std::uint64_t> progress{0};
  for (auto& taken : Pauses::taken) taken = 0;
  for (const std::size_t threads : {2U, 3U, 4U, 6U})
    for (int step = 0; step <= steps; ++step) {
      const test::Watchdog watchdog("pauses at step " + std::to_string(step), progress,
                                    std::chrono::seconds(30));
      PausedTeam team(threads - 1, nothing_to_prepare);
      Pauses::chosen = step;
      for (int round = 0; round < (step == steps ? 4 : 1); ++round) many_jobs(team, threads, progress);
    }
  Pauses::chosen = -1;
  for (const auto& taken : Pauses::taken) CHECK(taken > 0);
}

TEST_CASE("team: members of a job that runs together have a thread each, also when some end at once") {
  std::atomic<std::uint64_t> progress{0};
  const test::Watchdog watchdog("members", progress, std::chrono::seconds(30));
  Pauses::chosen = steps;
  PausedTeam team(3, nothing_to_prepare);
  for (int job = 0; job < 100; ++job, ++progress) {
    std::array<std::thread::id, 4> ids;
    run(team, 4, true, [&](std::size_t member) { ids[member] = std::this_thread::get_id(); });
    CHECK(std::set<std::thread::id>(ids.begin(), ids.end()).size() == 4);
  }
  Pauses::chosen = -1;
}

TEST_CASE("team: the first exception comes out when no share runs any more, from barriers too") {
  std::atomic<std::uint64_t> progress{0};
  const test::Watchdog watchdog("exceptions", progress, std::chrono::seconds(30));
  Pauses::chosen = steps;
  PausedTeam team(3, nothing_to_prepare);
  for (std::size_t job = 0; job < 100; ++job, ++progress) {
    const bool together = job % 2 == 1;
    std::atomic<int> running{0};
    const auto failing = [&](std::size_t share) {
      ++running;
      struct Leave {
        std::atomic<int>& count;
        ~Leave() { --count; }
      } const leave{running};
      if (together) team.meet(4);
      if (share == job % 4) throw std::bad_alloc();
      if (together) team.meet(4);
    };
    CHECK_THROWS_AS(run(team, 4, together, failing), std::bad_alloc);
    CHECK(running == 0);
    Counts counts{};  // and the team continues to work
    run(team, 4, together, [&](std::size_t share) {
      if (together) team.meet(4);
      ++counts[share];
    });
    CHECK(each_once(counts, 4));
  }
  Pauses::chosen = -1;
}

TEST_CASE("team: ends at any moment, with helpers that watch, sleep or have not begun") {
  std::atomic<std::uint64_t> progress{0};
  const test::Watchdog watchdog("ends", progress, std::chrono::seconds(30));
  Pauses::chosen = steps;
  for (int i = 0; i < 50; ++i, ++progress) {
    PausedTeam team(3, nothing_to_prepare);
    Counts counts{};
    if (i % 2 == 0) run(team, 3, false, [&](std::size_t share) { ++counts[share]; });
    std::this_thread::sleep_for(std::chrono::microseconds(i * 10));
  }
  Pauses::chosen = -1;
}
