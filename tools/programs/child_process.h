#pragma once
// This same program once more, as another process that this one starts and watches, with its output in a file.

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace lamina {

class ChildProcess {
 public:
  /// Starts it with these arguments, also when its file has been replaced by now. Standard output and standard error are
  /// appended to the file `log`, standard input is empty. The child has a process group of its own, so that Ctrl-C on the
  /// terminal does not reach it; when this process dies, it gets a SIGTERM. DataError when it cannot be started or the
  /// file cannot be written.
  ChildProcess(const std::vector<std::string>& arguments, const std::string& log);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Stops the child, and waits for its end.
  ~ChildProcess();

  /// Whether it has ended; never waits.
  bool ended();
  /// Asks it to end, with SIGTERM. Once is enough: a run of lamina saves at the first and dies at the second.
  void stop();

  /// Of a child that has ended: its exit code, or the negative number of the signal that killed it.
  int exit_code() const { return exit_code_; }
  /// The most memory that it has held so far, in bytes.
  std::size_t peak_bytes() const;
  /// What it holds now.
  std::size_t bytes() const;

 private:
  pid_t id_ = 0;
  bool ended_ = false, stopped_ = false;
  int exit_code_ = 0;
  std::size_t peak_at_end_ = 0;
};

}  // namespace lamina
