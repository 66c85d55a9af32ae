#include "models/terminal/interrupt.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <string_view>

namespace lamina {

namespace {

std::atomic<bool> requested = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not wait for a lock");

constexpr std::array caught{SIGINT, SIGTERM, SIGHUP, SIGPIPE};
std::array<struct sigaction, caught.size()> previous_actions;
int alive = 0;  ///< objects of CatchInterrupts; only the outermost acts

extern "C" void on_signal(int signal) {
  requested = true;
  if (signal != SIGINT && signal != SIGTERM) return;
  // Restores the default action for the second signal, which ends the program.
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  constexpr std::string_view note = "\ninterrupted: ending in order; press Ctrl-C again to end at once\n";
  // Only information for the user, so a failure does not matter.
  if (isatty(STDERR_FILENO) && write(STDERR_FILENO, note.data(), note.size()) < 0) return;
}

}  // namespace

CatchInterrupts::CatchInterrupts() {
  if (alive++ > 0) return;
  requested = false;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;  // a checkpoint that is being written must not see EINTR
  for (std::size_t i = 0; i < caught.size(); ++i) {
    sigaction(caught[i], &action, &previous_actions[i]);
    if (caught[i] == SIGHUP && previous_actions[i].sa_handler == SIG_IGN)
      sigaction(SIGHUP, &previous_actions[i], nullptr);
  }
}

CatchInterrupts::~CatchInterrupts() {
  if (--alive > 0) return;
  for (std::size_t i = 0; i < caught.size(); ++i) sigaction(caught[i], &previous_actions[i], nullptr);
  requested = false;
}

bool interrupted() { return requested.load(std::memory_order_relaxed); }

}  // namespace lamina
