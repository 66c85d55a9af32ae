#pragma once
// One process at a time trains in a run's folder.
//
// The file `lock` in it is locked by the system, which frees it when the process ends, however it ends; the
// file holds the process id, for the error message of a second process. A file left by a killed process is
// locked again by the next one and removed when that ends. On NFS the lock holds between machines from Linux
// 2.6.12 on (flock becomes a lock of the server's); the process id is then that of another machine.

#include <string>

#include "core/files/file.h"

namespace lamina {

class RunLock {
 public:
  /// Locks a folder. UsageError with the id of the process that holds it; DataError when `lock` cannot be
  /// written or is a file of another kind. Where the file system has no locks, prints a note and continues
  /// without one.
  explicit RunLock(const std::string& folder);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  /// DataError where the folder that was locked is no longer at its place: it was moved or removed, and what is there now is
  /// another run's.
  void require_at_its_place() const;

 private:
  RunLock(const std::string& folder, Descriptor file);
  std::string path() const { return folder_ + "/lock"; }

  std::string folder_;
  Descriptor file_;    ///< the locked one
  Descriptor opened_;  ///< the folder, wherever it is by now
};

/// Whether a process trains in a folder now.
bool is_locked(const std::string& folder);

}  // namespace lamina
