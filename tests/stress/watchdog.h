#pragma once
// Ends a program that hangs: a test that waits forever cannot fail by itself.

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace lamina::test {

/// While it lives, ends the program with exit code 1 and one line when `progress` has not changed for `limit`.
class Watchdog {
 public:
  Watchdog(std::string what, const std::atomic<std::uint64_t>& progress, std::chrono::seconds limit)
      : what_(std::move(what)), progress_(progress), limit_(limit), thread_([this] { watch(); }) {}

  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    std::uint64_t seen = progress_;
    auto since = std::chrono::steady_clock::now();
    while (!changed_.wait_for(lock, std::chrono::milliseconds(200), [this] { return over_; })) {
      const auto now = std::chrono::steady_clock::now();
      if (progress_ != seen) {
        seen = progress_;
        since = now;
      } else if (now - since > limit_) {
        std::printf("HANG: %s: nothing moves for %lld s after %llu jobs\n", what_.c_str(),
                    static_cast<long long>(limit_.count()), static_cast<unsigned long long>(seen));
        std::fflush(stdout);
        _exit(1);
      }
    }
  }

  std::string what_;
  const std::atomic<std::uint64_t>& progress_;
  std::chrono::seconds limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace lamina::test
