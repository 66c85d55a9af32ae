#include "models/run/run_lock.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <optional>

#include "core/error.h"
#include "models/run/run_folder.h"
#include "tests/temporary_folder.h"

using namespace lamina;
namespace fs = std::filesystem;

namespace {

std::string refusal(const std::string& folder) {
  return message_of<UsageError>([&] { const RunLock lock(folder); });
}

/// Runs `body` in a child process that then waits to be killed; returns its process id when `body` is done.
template <class Body>
pid_t child_that(const Body& body) {
  int channel[2];
  REQUIRE(pipe(channel) == 0);
  const pid_t child = fork();
  if (child == 0) {
    body();
    if (write(channel[1], "x", 1) == 1) pause();
    _exit(1);
  }
  char done;
  REQUIRE(read(channel[0], &done, 1) == 1);
  close(channel[0]);
  close(channel[1]);
  return child;
}

void kill_and_wait(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace

TEST_CASE("run lock: the second process is told the first one's number, until the first one ends") {
  const TemporaryFolder folder;
  {
    const RunLock lock(folder.path());
    CHECK(refusal(folder.path()) == "--out " + folder.path() + ": process " + std::to_string(getpid()) +
                                        " trains in this folder; wait for its end, or name another folder");
  }
  CHECK(folder.size() == 0);
  CHECK(refusal(folder.path()).empty());
}

TEST_CASE("run lock: a killed process holds nothing") {
  const TemporaryFolder folder;
  const pid_t child = child_that([&] { new RunLock(folder.path()); });
  CHECK(refusal(folder.path()).find("process " + std::to_string(child)) != std::string::npos);
  kill_and_wait(child);
  CHECK(fs::exists(folder / "lock"));
  CHECK(refusal(folder.path()).empty());
  CHECK(folder.size() == 0);
}

TEST_CASE("run lock: new, resumed and copied run folders") {
  const TemporaryFolder scratch;
  const std::string path = scratch / "run";
  auto first = std::make_unique<RunFolder>(RunFolder::create(path, {.experiment = "mnist"}));
  CHECK_THROWS_WITH_AS(RunFolder::create(path, {.experiment = "mnist"}), doctest::Contains("trains in this"),
                       UsageError);
  CHECK_THROWS_WITH_AS(RunFolder::resume(path, "mnist"), doctest::Contains("trains in this"), UsageError);
  CHECK_NOTHROW(RunFolder::open(path));
  {
    const RunFolder copy = *first;
    first.reset();
    CHECK_THROWS_AS(RunFolder::resume(path, "mnist"), UsageError);
  }
  CHECK_NOTHROW(RunFolder::resume(path, "mnist"));
}

TEST_CASE(
    "run lock: a folder that was moved is no longer at its place, and the lock of the next one there stays") {
  const TemporaryFolder scratch;
  const std::string path = scratch / "run";
  std::optional<RunFolder> first = RunFolder::create(path, {.experiment = "mnist"});
  CHECK_NOTHROW(first->require_at_its_place());
  fs::rename(path, scratch / "moved");
  const std::string moved =
      path +
      ": was moved or removed while it was trained in; go on where it is now, with --resume --out FOLDER";
  CHECK(message_of<DataError>([&] { first->require_at_its_place(); }) == moved);
  const RunFolder second = RunFolder::create(path, {.experiment = "mnist"});
  CHECK(message_of<DataError>([&] { first->require_at_its_place(); }) == moved);
  CHECK(message_of<DataError>([&] { first->file("state"); }) == moved);
  CHECK(second.file("state") == path + "/state");
  first.reset();
  CHECK_THROWS_AS(RunFolder::resume(path, "mnist"), UsageError);  // it is still the second one's
}

TEST_CASE("run lock: a file of another program stays as it is") {
  const TemporaryFolder folder;
  write_file(folder / "lock", "the user's own\n");
  CHECK(message_of<DataError>([&] { const RunLock lock(folder.path()); }) ==
        folder / "lock" +
            ": cannot be locked: it is a file of another program; choose another folder with --out");
  CHECK(read_file(folder / "lock") == "the user's own\n");
  fs::remove(folder / "lock");
  fs::create_directory(folder / "lock");
  CHECK_THROWS_AS(RunLock(folder.path()), DataError);
}

TEST_CASE("run lock: of many processes that start at once, one trains") {
  const TemporaryFolder folder;
  for (int round = 0; round < 50; ++round) {
    const std::string path = folder / std::to_string(round);
    int winners[2];
    REQUIRE(pipe(winners) == 0);
    pid_t children[4];
    for (pid_t& child : children)
      if ((child = fork()) == 0) {
        try {
          const RunFolder run = RunFolder::create(path, {.experiment = "mnist"});
          if (write(winners[1], "x", 1) == 1) pause();
        } catch (const UsageError&) {
        }
        _exit(0);
      }
    char won;
    REQUIRE(read(winners[0], &won, 1) == 1);
    // The losers end by themselves; the winner waits to be killed.
    int ended = 0;
    for (; ended < 3; ++ended) REQUIRE(wait(nullptr) > 0);
    for (const pid_t child : children) kill(child, SIGKILL);
    REQUIRE(wait(nullptr) > 0);
    close(winners[1]);
    CHECK(read(winners[0], &won, 1) == 0);
    close(winners[0]);
  }
}
