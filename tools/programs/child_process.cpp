#include "tools/programs/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include "core/error.h"
#include "core/files/file.h"
#include "tools/programs/process.h"

namespace lamina {

namespace {

/// What the new process does before it becomes the program. Only calls that are safe after fork().
[[noreturn]] void become(char* const* command, int input, int log, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);  // the parent died before it could be asked for a signal
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
  ::dup2(input, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::execv("/proc/self/exe", command);
  ::_exit(127);
}

/// A line such as "VmRSS:   1234 kB" of /proc/ID/status, in bytes; 0 where there is none.
std::size_t status_of(pid_t id, const std::string& name) {
  std::ifstream status(text("/proc/", id, "/status"));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ':'))
      return std::stoull("0" + line.substr(line.find_first_of("0123456789"))) << 10;
  return 0;
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments, const std::string& log) {
  const Descriptor input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Descriptor output(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (output.number() < 0)
    fail<DataError>(log, ": cannot be written (", std::strerror(errno), "); name another folder with --out");
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), "lamina");
  const std::vector<char*> command = arguments_of(words);
  const pid_t parent = ::getpid();
  id_ = ::fork();
  if (id_ < 0)
    fail<DataError>(log, ": its run cannot be started (", std::strerror(errno), "); end other programs");
  if (id_ == 0) become(command.data(), input.number(), output.number(), parent);
}

ChildProcess::~ChildProcess() {
  stop();
  while (!ended()) ::usleep(10'000);
}

bool ChildProcess::ended() {
  if (ended_) return true;
  int status = 0;
  rusage used = {};
  const pid_t found = ::wait4(id_, &status, WNOHANG, &used);
  if (found == 0 || (found < 0 && errno == EINTR)) return false;
  ended_ = true;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  peak_at_end_ = static_cast<std::size_t>(used.ru_maxrss) << 10;
  return true;
}

void ChildProcess::stop() {
  if (!ended_ && !stopped_) ::kill(id_, SIGTERM);
  stopped_ = true;
}

std::size_t ChildProcess::peak_bytes() const { return ended_ ? peak_at_end_ : status_of(id_, "VmHWM"); }
std::size_t ChildProcess::bytes() const { return ended_ ? 0 : status_of(id_, "VmRSS"); }

}  // namespace lamina
