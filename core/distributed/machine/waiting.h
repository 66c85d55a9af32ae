#pragma once
// How a rank waits for others, which may need its core to get there.

#include <chrono>
#include <thread>

namespace lamina::distributed {

/// Called between two looks whether something has happened: first returns at once, then lets others pass, then sleeps. Where
/// cores are scarce, who has slept comes to its turn much sooner than who has only let others pass; where they are not,
/// to let others pass takes no time, and to wake up takes more than most waits.
class Waiting {
 public:
  void operator()() {
    using namespace std::chrono_literals;
    using Clock = std::chrono::steady_clock;
    constexpr int tries_at_full_speed = 100;
    if (tries_ < tries_at_full_speed) {
      if (++tries_ == tries_at_full_speed) began_ = Clock::now();
    } else if (Clock::now() - began_ < 500us) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(20us);
    }
  }

 private:
  int tries_ = 0;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace lamina::distributed
