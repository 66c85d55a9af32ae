#pragma once
// One process at a time trains in a run's folder.
//
// The file `lock` in it is locked by the system, which frees it when the process ends, however it ends; what
// the file holds is the process number, for the message to the second one. A file that a killed process left
// is locked again by the next and removed when that one is done. On NFS the lock holds between machines from
// Linux 2.6.12 on (flock becomes a lock of the server's); the process number is then that of another machine.

#include <string>

#include "core/file.h"

namespace lamina {

class RunLock {
 public:
  /// Locks a folder. UsageError with the number of the process that holds it; DataError when `lock` cannot be
  /// written or is a file of another kind. Where the file system has no locks, says so and goes on without.
  explicit RunLock(const std::string& folder);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  RunLock(std::string path, Descriptor file);
  std::string path_;
  Descriptor file_;
};

}  // namespace lamina
