#include "models/common/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string_view>

namespace lamina {

namespace {

std::atomic<bool> requested = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not wait for a lock");

struct sigaction before_int, before_term;

extern "C" void on_signal(int) {
  // The second signal finds the default action again, which ends the program.
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  requested = true;
  constexpr std::string_view note = "\ninterrupted: saving; press Ctrl-C again to stop without\n";
  // Only for a person to see, so a failure changes nothing.
  if (isatty(STDERR_FILENO) && write(STDERR_FILENO, note.data(), note.size()) < 0) return;
}

}  // namespace

CatchInterrupts::CatchInterrupts() {
  requested = false;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;  // a checkpoint that is being written must not see EINTR
  sigaction(SIGINT, &action, &before_int);
  sigaction(SIGTERM, &action, &before_term);
}

CatchInterrupts::~CatchInterrupts() {
  sigaction(SIGINT, &before_int, nullptr);
  sigaction(SIGTERM, &before_term, nullptr);
  requested = false;
}

bool interrupted() { return requested.load(std::memory_order_relaxed); }

}  // namespace lamina
