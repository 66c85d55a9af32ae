// Stress of the threads (core/threads/parallel.h): very many small jobs of varying numbers of shares.
//
//   stress-threads JOBS THREADS...   this many jobs with each number of threads, a quarter of them by two
//                                    callers
//   stress-threads --time THREADS... nanoseconds to hand over a job with as many shares as threads
//
// Exit code 1 when a share ran twice or never, or when there is no progress any more.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "core/threads/parallel.h"
#include "tests/stress/thread_jobs.h"
#include "tests/stress/watchdog.h"

namespace {

using namespace lamina;
using namespace lamina::test;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The number of wrong shares in `jobs` jobs, made by several callers at once.
std::uint64_t stress(std::uint64_t jobs, int team, unsigned callers) {
  set_threads(team);
  std::atomic<std::uint64_t> progress{0};
  const std::string what =
      std::to_string(team) + " threads, " + std::to_string(callers) + (callers == 1 ? " caller" : " callers");
  const Watchdog watchdog(what, progress, std::chrono::seconds(60));
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::uint64_t> wrong(callers);
  const auto call = [&](unsigned id) {
    ThreadJobs own(static_cast<std::uint64_t>(team) * 100 + id);
    own.run(jobs / callers, progress);
    wrong[id] = own.wrong();
  };
  std::vector<std::thread> others;
  for (unsigned id = 1; id < callers; ++id) others.emplace_back(call, id);
  call(0);
  for (std::thread& other : others) other.join();
  std::uint64_t total = 0;
  for (const std::uint64_t count : wrong) total += count;
  std::printf("%-22s %11llu jobs, %llu wrong, %9.0f jobs/s\n", what.c_str(),
              static_cast<unsigned long long>(progress.load()), static_cast<unsigned long long>(total),
              static_cast<double>(progress.load()) / seconds_since(begin));
  std::fflush(stdout);
  return total;
}

/// Prints the median and the minimum of the nanoseconds per job over many short bursts.
void time_handing_over(int team) {
  set_threads(team);
  constexpr int bursts = 201, jobs = 2000;
  std::vector<double> times;
  std::vector<std::atomic<int>> done(static_cast<std::size_t>(team) * 16);  // a cache line each
  for (int burst = 0; burst < bursts; ++burst) {
    const auto begin = std::chrono::steady_clock::now();
    for (int job = 0; job < jobs; ++job)
      for_each_share(static_cast<std::size_t>(team),
                     [&](std::size_t share) { done[share * 16].store(job, std::memory_order_relaxed); });
    times.push_back(seconds_since(begin) / jobs * 1e9);
  }
  std::ranges::sort(times);
  std::printf("%2d threads: %5.0f ns a job, least %.0f\n", team, times[bursts / 2], times[0]);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: stress-threads JOBS|--time THREADS...\n");
    return 2;
  }
  const bool timing = std::string_view(argv[1]) == "--time";
  const auto jobs = static_cast<std::uint64_t>(timing ? 0 : std::atof(argv[1]));  // 1e8 is a number, too
  std::uint64_t wrong = 0;
  for (int i = 2; i < argc; ++i) {
    const int team = std::clamp(std::atoi(argv[i]), 1, 48);
    if (timing)
      time_handing_over(team);
    else
      wrong += stress(jobs / 4 * 3, team, 1) + stress(jobs / 4, team, 2);
  }
  return wrong == 0 ? 0 : 1;
}
