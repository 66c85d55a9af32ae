#include "tools/programs/run_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>

#include "core/error.h"
#include "models/pictures/picture_file.h"
#include "tools/programs/process.h"

namespace lamina {

namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// A file in memory, which is gone when it is closed. One in /tmp would be cut short where that is full, and gnuplot does not
/// look whether what it writes is written.
File unnamed_file() {
  const int number = ::memfd_create("lamina", MFD_CLOEXEC);
  File file(number < 0 ? nullptr : ::fdopen(number, "w+b"), std::fclose);
  if (!file)
    fail<DataError>("no file in memory (", std::strerror(errno),
                    "); end other programs, or raise the limit (ulimit -n)");
  return file;
}

File file_with(const std::string& bytes) {
  File file = unnamed_file();
  if (std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size() || std::fflush(file.get()) != 0)
    fail<DataError>("a file in memory cannot be written (", std::strerror(errno),
                    "); end other programs, or raise the limit (ulimit -f)");
  std::rewind(file.get());
  return file;
}

std::string content(std::FILE* file) {
  std::string bytes;
  std::array<char, 65536> block;
  std::rewind(file);
  while (const size_t count = std::fread(block.data(), 1, block.size(), file))
    bytes.append(block.data(), count);
  return bytes;
}

struct Outcome {
  std::string output, messages;  ///< standard output and standard error
  int error = 0;                 ///< errno when it did not start
  bool ok = false;               ///< it ran and ended with exit code 0

  /// Why it is not ok: one line.
  std::string reason() const {
    const std::string all = error != 0 ? std::strerror(error) : messages;
    const size_t start = std::min(all.find_first_not_of(" \n"), all.size());
    return all.substr(start, all.find('\n', start) - start);
  }
};

// Input, output and messages pass through nameless files: pipes in both directions could each wait for the
// other.
Outcome run(const std::vector<std::string>& command, const std::string& input) {
  const File in = file_with(input), out = unnamed_file(), errors = unnamed_file();
  posix_spawn_file_actions_t redirect;
  posix_spawn_file_actions_init(&redirect);
  posix_spawn_file_actions_adddup2(&redirect, fileno(in.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&redirect, fileno(out.get()), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&redirect, fileno(errors.get()), STDERR_FILENO);
  std::vector<std::string> words = command;
  const std::vector<char*> arguments = arguments_of(words);
  pid_t child = 0;
  Outcome outcome;
  outcome.error = posix_spawnp(&child, arguments[0], &redirect, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&redirect);
  if (outcome.error != 0) return outcome;

  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  outcome.output = content(out.get());
  outcome.messages = content(errors.get());
  outcome.ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return outcome;
}

}  // namespace

bool draw_by(const DrawingProgram& program, const std::string& input, const std::string& path) {
  const Outcome outcome = run(program.command, input);
  const bool drawn = outcome.ok && !outcome.output.empty();
  if (drawn)
    write_picture(path, outcome.output);
  else if (outcome.error == ENOENT)
    std::cerr << path << ": not drawn, " << program.package
              << " is not installed; run tools/install-deps.sh\n";
  else
    std::cerr << path << ": not drawn, " << program.name << " failed; check its installation ("
              << outcome.reason() << ")\n";
  return drawn;
}

}  // namespace lamina
