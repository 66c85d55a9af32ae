#include "models/run/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <optional>
#include <utility>

#include "core/error.h"

namespace lamina {

namespace {

std::string folder_of(const std::string& lock) { return lock.substr(0, lock.rfind('/')); }

[[noreturn]] void cannot_lock(const std::string& path, const std::string& reason) {
  fail<DataError>(path, ": cannot be locked: ", reason, "; choose another folder with --out");
}

/// The content of the file: a process id, or nothing as long as its owner has not written it.
std::string owner_in(const std::string& path, int file) {
  std::array<char, 32> bytes;
  const ssize_t count = ::pread(file, bytes.data(), bytes.size(), 0);
  if (count < 0) cannot_lock(path, std::strerror(errno));
  std::string owner(bytes.data(), static_cast<size_t>(count));
  if (owner.ends_with('\n')) owner.pop_back();
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  // It would be overwritten and removed.
  if (!std::ranges::all_of(owner, is_digit)) cannot_lock(path, "it is a file of another program");
  return owner;
}

[[noreturn]] void refuse(const std::string& path, int file) {
  std::string owner;
  for (int attempt = 0; attempt < 100 && owner.empty(); ++attempt) {
    if (attempt > 0) ::usleep(10'000);  // it has locked the file and is about to write its id
    owner = owner_in(path, file);
  }
  fail<UsageError>("--out ", folder_of(path), ": ", owner.empty() ? "another process" : "process " + owner,
                   " trains in this folder; wait for its end, or name another folder");
}

/// Whether the open file or folder is still the one of that name: a lock's owner removes it before it is free.
bool is_at(const std::string& path, int file) {
  struct stat opened, named;
  return ::fstat(file, &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

/// The locked file; nothing when its owner removed it at this moment.
std::optional<Descriptor> try_to_take(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  struct stat status;
  if (file.number() < 0 || ::fstat(file.number(), &status) != 0) cannot_lock(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) cannot_lock(path, "it is not a regular file");
  if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) refuse(path, file.number());
    if (errno != ENOLCK && errno != ENOSYS && errno != ENOTSUP && errno != EINVAL)
      cannot_lock(path, std::strerror(errno));
    std::cerr << path << ": this file system has no locks (" << std::strerror(errno)
              << "); let no second process train in this folder\n";
  }
  if (!is_at(path, file.number())) return std::nullopt;
  owner_in(path, file.number());
  return file;
}

Descriptor take(const std::string& path) {
  for (;;)
    if (std::optional<Descriptor> file = try_to_take(path)) return std::move(*file);
}

}  // namespace

RunLock::RunLock(const std::string& folder) : RunLock(folder, take(folder + "/lock")) {
  // From here on the destructor removes the file.
  const std::string owner = text(::getpid(), '\n');
  if (::ftruncate(file_.number(), 0) != 0) cannot_lock(path(), std::strerror(errno));
  for (size_t done = 0; done < owner.size();) {
    const ssize_t written =
        ::pwrite(file_.number(), owner.data() + done, owner.size() - done, static_cast<off_t>(done));
    if (written < 0 && errno != EINTR) cannot_lock(path(), std::strerror(errno));
    if (written > 0) done += static_cast<size_t>(written);
  }
}

RunLock::RunLock(const std::string& folder, Descriptor file)
    : folder_(folder),
      file_(std::move(file)),
      opened_(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

RunLock::~RunLock() {
  if (is_at(path(), file_.number())) ::unlink(path().c_str());
}

void RunLock::require_at_its_place() const {
  if (opened_.number() >= 0 && !is_at(folder_, opened_.number()))
    fail<DataError>(
        folder_,
        ": was moved or removed while it was trained in; go on where it is now, with --resume --out FOLDER");
}

bool is_locked(const std::string& folder) {
  const Descriptor file(::open((folder + "/lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return file.number() >= 0 && ::flock(file.number(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace lamina
