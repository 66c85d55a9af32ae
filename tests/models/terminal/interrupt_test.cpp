#include "models/terminal/interrupt.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <initializer_list>

using namespace lamina;

TEST_CASE("an interrupt is a request until the scope ends") {
  CHECK_FALSE(interrupted());
  {
    const CatchInterrupts catching;
    std::raise(SIGTERM);
    CHECK(interrupted());
  }
  CHECK_FALSE(interrupted());
}

TEST_CASE("a request outlives the inner of two scopes, and the inner one begins with it") {
  {
    const CatchInterrupts outer;
    {
      const CatchInterrupts inner;
      std::raise(SIGTERM);
    }
    CHECK(interrupted());
    const CatchInterrupts next;
    CHECK(interrupted());
  }
  CHECK_FALSE(interrupted());
}

TEST_CASE("a closed terminal and a reader that ended interrupt, as often as they like") {
  const auto before = std::signal(SIGHUP, SIG_DFL);  // the tests themselves may run under nohup
  for (const int signal : {SIGHUP, SIGPIPE}) {
    const CatchInterrupts catching;
    CHECK_FALSE(interrupted());
    std::raise(signal);
    CHECK(interrupted());
    std::raise(signal);
    CHECK(interrupted());
  }
  CHECK_FALSE(interrupted());
  std::signal(SIGHUP, before);
}

TEST_CASE("under nohup a closed terminal changes nothing") {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  {
    const CatchInterrupts catching;
    std::raise(SIGHUP);
    CHECK_FALSE(interrupted());
  }
  const bool still_ignored = std::signal(SIGHUP, before) == SIG_IGN;
  CHECK(still_ignored);
}

TEST_CASE("the second interrupt kills at once") {
  const pid_t child = fork();
  if (child == 0) {
    const CatchInterrupts catching;
    std::raise(SIGINT);
    if (interrupted()) std::raise(SIGINT);
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGINT);
}
