// Splitting loops over threads.

#include "core/threads/parallel.h"

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/files/control_groups.h"
#include "tests/stress/thread_jobs.h"
#include "tests/stress/watchdog.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

using namespace lamina;

TEST_CASE("a program's first loop may be one of shares or of members") {
  if (const char* const first = std::getenv("LAMINA_TEST_FIRST_LOOP")) {  // in a process of its own
    std::atomic<int> ran = 0;
    if (first == std::string("members"))
      for_each_member(2, [&](size_t) {
        ++ran;
        barrier();
      });
    else
      for_each_share(2, [&](size_t) { ran += threads() / 2; });
    CHECK(ran == 2);
    return;
  }
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  for (const std::string first : {"members", "shares"})
    CHECK(std::system(("LAMINA_THREADS=2 LAMINA_TEST_FIRST_LOOP=" + first + " '" + program +
                       "' --test-case='a program*first loop*' >/dev/null")
                          .c_str()) == 0);
}

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

TEST_CASE("a share has items of as many elements as are worth it, and one at least") {
  CHECK(grain_of(0) == elementwise_grain + 1);
  CHECK(grain_of(100) == elementwise_grain / 101 + 1);
  CHECK(grain_of(10 * elementwise_grain) == 1);
  CHECK(grain_of(100, elementwise_grain / 4) == elementwise_grain / 404 + 1);
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

namespace {

/// Sets LAMINA_THREADS while it lives.
class ThreadsVariable {
 public:
  explicit ThreadsVariable(const char* value) {
    if (const char* const set = std::getenv("LAMINA_THREADS")) before_ = set;
    if (value == nullptr)
      unsetenv("LAMINA_THREADS");
    else
      setenv("LAMINA_THREADS", value, 1);
  }
  ~ThreadsVariable() {
    if (before_)
      setenv("LAMINA_THREADS", before_->c_str(), 1);
    else
      unsetenv("LAMINA_THREADS");
  }
  ThreadsVariable(const ThreadsVariable&) = delete;
  ThreadsVariable& operator=(const ThreadsVariable&) = delete;

 private:
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("set_threads: the count is kept, 0 means one per core") {
  const ThreadsVariable unset(nullptr);
  set_threads(3);
  CHECK(threads() == 3);
  set_threads(0);
  CHECK(threads() == usable_cores());
  set_threads(3);
  CHECK_THROWS_WITH_AS(set_threads(-1), doctest::Contains("set_threads: -1 threads; name how many"), Error);
  CHECK(threads() == 3);
  set_threads(0);
}

TEST_CASE("one thread per core is one for each core that the process may run on") {
  const ThreadsVariable unset(nullptr);
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CHECK(usable_cores() == std::min<double>(CPU_COUNT(&before), std::ceil(cpu_quota(control_groups("cpu")))));
  int first = 0;
  while (CPU_ISSET(first, &before) == 0) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  set_threads(0);
  const int chosen = threads();
  REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
  CHECK(chosen == 1);
  set_threads(0);
}

TEST_CASE("LAMINA_THREADS says how many threads 0 means, and nothing to who asks for a number") {
  const ThreadsVariable five("5");
  set_threads(0);
  CHECK(threads() == 5);
  set_threads(2);
  CHECK(threads() == 2);
  const ThreadsVariable none("");
  set_threads(0);
  CHECK(threads() == usable_cores());
}

TEST_CASE("nonsense in LAMINA_THREADS is an error that names it, and changes nothing") {
  set_threads(2);
  for (const char* const nonsense : {"0", "-1", "two", "4x", " 4", "1.5", "1025", "99999999999999999999"}) {
    const ThreadsVariable set(nonsense);
    CHECK_THROWS_WITH_AS(set_threads(0),
                         doctest::Contains(("LAMINA_THREADS=" + std::string(nonsense) +
                                            ": is no whole number from 1 to 1024; unset it")
                                               .c_str()),
                         Error);
    CHECK(threads() == 2);
  }
  const ThreadsVariable unset(nullptr);
  set_threads(0);
}

TEST_CASE("denormal numbers are flushed on every thread") {
  set_threads(2);
  const volatile float small = 1e-38F;
  std::atomic<int> zeros{0};
  for_each_member(2, [&](size_t) {
    if (small * 0.1F == 0) ++zeros;
  });
#if defined(__SSE2__) || defined(__aarch64__)
  CHECK(zeros.load() == 2);
#endif
  set_threads(0);
}

#if defined(__SSE2__)
TEST_CASE("denormal numbers are flushed on a thread of the program that began before the library was used") {
  bool flushed = false;
  std::thread([&] {
    constexpr unsigned flush = 0x8040;
    _mm_setcsr(_mm_getcsr() & ~flush);
    (void)threads();
    const volatile float small = 1e-38F;
    flushed = small * 0.1F == 0;
  }).join();
  CHECK(flushed);
}
#endif

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

TEST_CASE("jobs of changing numbers of shares: each share runs once, for one caller and for two") {
  for (const int team : {1, 2, 3, 4, 8}) {
    set_threads(team);
    std::atomic<std::uint64_t> progress{0};
    const test::Watchdog watchdog(std::to_string(team) + " threads", progress, std::chrono::seconds(60));
    test::ThreadJobs own(1), others(2);
    own.run(10000, progress, 256);
    std::thread other([&] { others.run(5000, progress, 256); });
    own.run(5000, progress, 256);
    other.join();
    CHECK(own.wrong() + others.wrong() == 0);
  }
  set_threads(0);
}

TEST_CASE("a caller that finds the helpers taken runs its shares alone, as shares") {
  set_threads(2);
  std::atomic<bool> taken{false}, over{false};
  std::thread other([&] {
    for_each_member(2, [&](size_t) {
      taken = true;
      while (!over) std::this_thread::yield();
    });
  });
  while (!taken) std::this_thread::yield();
  const auto self = std::this_thread::get_id();
  for_each_share(3, [&](size_t) {
    CHECK(inside_share());
    CHECK(shares_of(1000, 1) == 1);
    CHECK(share_slot() == 0);
    CHECK(std::this_thread::get_id() == self);
  });
  over = true;
  other.join();
  set_threads(0);
}

TEST_CASE("an exception that leaves a share reaches the caller once the job is over, and work goes on") {
  for (const int team : {1, 2, 4}) {
    set_threads(team);
    const auto refuse = [](size_t share) {
      if (share == 2) throw std::bad_alloc();
    };
    CHECK_THROWS_AS(for_each_share(4, refuse), std::bad_alloc);
    CHECK_THROWS_AS(parallel_for(100, 1, [](size_t, size_t) { fail("no"); }), Error);
    CHECK_FALSE(inside_share());
    std::atomic<int> done{0};
    for_each_share(4, [&](size_t) { ++done; });
    CHECK(done == 4);
  }
  set_threads(0);
}

TEST_CASE("an exception in one member ends the others at their barrier") {
  for (const int team : {1, 2, 4}) {
    set_threads(team);
    const auto members = static_cast<size_t>(team);
    for (size_t lost = 0; lost < members; ++lost) {
      std::atomic<size_t> passed{0};
      CHECK_THROWS_WITH_AS(for_each_member(members,
                                           [&](size_t member) {
                                             barrier();
                                             if (member == lost) fail("member ", member);
                                             barrier();
                                             ++passed;
                                           }),
                           ("member " + std::to_string(lost)).c_str(), Error);
      CHECK(passed == 0);
    }
    std::atomic<size_t> met{0};
    for_each_member(members, [&](size_t) {
      barrier();
      ++met;
    });
    CHECK(met == members);
  }
  set_threads(0);
}

TEST_CASE("what would wait for ever or touch another job is refused") {
  set_threads(2);
  const auto nothing = [](size_t) {};
  CHECK_THROWS_AS(barrier(), Error);
  CHECK_THROWS_AS(for_each_share(2, [](size_t) { barrier(); }), Error);
  CHECK_THROWS_AS(for_each_member(3, nothing), Error);
  CHECK_THROWS_AS(for_each_share(2, [&](size_t) { for_each_member(2, nothing); }), Error);
  CHECK_THROWS_AS(for_each_share(2, [](size_t) { set_threads(3); }), Error);
  CHECK(threads() == 2);
  for_each_member(0, nothing);
  set_threads(1);
  int alone = 0;
  for_each_member(1, [&](size_t) {
    barrier();
    CHECK(inside_share());
    ++alone;
  });
  CHECK(alone == 1);
  set_threads(0);
}

#if !defined(__SANITIZE_THREAD__)  // which refuses threads in the child of a program that has some
TEST_CASE("the child of a fork has a team of its own") {
  set_threads(3);
  for_each_share(3, [](size_t) {});
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(20);  // for members that wait for ever
    std::atomic<size_t> met{0}, done{0};
    for_each_member(3, [&](size_t) {
      ++met;
      barrier();
    });
    for_each_share(5, [&](size_t) { ++done; });
    set_threads(2);
    for_each_member(2, [&](size_t) { barrier(); });
    ::_exit(met == 3 && done == 5 ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  set_threads(0);
}
#endif

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which themselves need address space
TEST_CASE(
    "threads that the system refuses: an error that names the remedy, and the caller's thread goes on") {
  set_threads(1);
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit tight = before;
  tight.rlim_cur = pages * 4096 + (size_t{256} << 20);  // for the stacks of some tens of threads
  setrlimit(RLIMIT_AS, &tight);
  std::string message;
  try {
    set_threads(1000);
  } catch (const Error& error) {
    message = error.what();
  }
  setrlimit(RLIMIT_AS, &before);
  CHECK(message.starts_with("cannot start 1000 threads: Resource temporarily unavailable after "));
  CHECK(message.ends_with("; ask for fewer"));
  CHECK(threads() == 1);
  std::atomic<int> done{0};
  for_each_share(3, [&](size_t) { ++done; });
  CHECK(done == 3);
  set_threads(2);
  CHECK(threads() == 2);
  set_threads(0);
}
#endif
