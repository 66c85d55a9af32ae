// Preloaded into a program (LD_PRELOAD), makes one of its file operations fail, or all from that one on.
// Operations that change a folder or its contents are counted:
//
//   FAULT_FOLDER=DIR   operations on paths below DIR, and on files that were opened there
//   FAULT_LOG=FILE     appends a line to FILE for each of them: "17 fsync DIR/state.4711-3.lamina-tmp"
//   FAULT_AT=N         the N-th one, from 1, fails; without it none does
//   FAULT_KIND=KIND    no-space, input-output: the error; short: half of a write is done; kill-before, kill-after: the
//                      process is killed before or after the operation
//   FAULT_LASTS=1      with the first two: every later operation fails as well, as far as the error is one of its own:
//                      a full disk still renames, removes and shortens

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

std::string_view setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The function of that name that this library overrides.
template <class Function>
Function original(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

struct OpenFile {
  bool watched = false;
  char path[PATH_MAX];
};
std::array<OpenFile, 1024> open_files;

bool is_watched(int file) {
  return file >= 0 && static_cast<size_t>(file) < open_files.size() &&
         open_files[static_cast<size_t>(file)].watched;
}

const char* path_of(int file) { return open_files[static_cast<size_t>(file)].path; }

bool is_watched(const char* path) {
  const std::string_view folder = setting("FAULT_FOLDER");
  return !folder.empty() && std::string_view(path).starts_with(folder);
}

void log_operation(unsigned number, const char* name, const char* path) {
  static const std::string file(setting("FAULT_LOG"));
  if (file.empty()) return;
  static const auto open_file = original<int (*)(const char*, int, ...)>("open");
  static const auto write_bytes = original<ssize_t (*)(int, const void*, size_t)>("write");
  static const int log = open_file(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const std::string line = std::to_string(number) + ' ' + name + ' ' + path + '\n';
  if (write_bytes(log, line.data(), line.size()) < 0) std::abort();
}

enum class Fate { goes_on, fails, is_short, killed_after };

/// Decides the outcome of an operation that is about to begin. `needs_space`: a full disk can refuse it.
Fate fate_of(const char* name, const char* path, bool needs_space) {
  static std::atomic<unsigned> count = 0;
  static const unsigned at = static_cast<unsigned>(std::atoi(std::string(setting("FAULT_AT")).c_str()));
  static const std::string kind(setting("FAULT_KIND"));
  static const bool lasts = !setting("FAULT_LASTS").empty();
  const unsigned number = ++count;
  log_operation(number, name, path);
  if (at == 0 || number < at || (number > at && !lasts)) return Fate::goes_on;
  if (kind == "kill-before") kill(getpid(), SIGKILL);
  if (kind == "kill-after") return Fate::killed_after;
  if (kind == "short") return Fate::is_short;
  if (kind == "no-space" && number > at && !needs_space) return Fate::goes_on;
  errno = kind == "no-space" ? ENOSPC : EIO;
  return Fate::fails;
}

/// Runs `operation` unless it must fail; then returns `failed`.
template <class Operation>
auto run(const char* name, const char* path, bool needs_space, const Operation& operation) {
  const Fate fate = fate_of(name, path, needs_space);
  if (fate == Fate::fails) return decltype(operation())(-1);
  const auto result = operation();
  if (fate == Fate::killed_after) kill(getpid(), SIGKILL);
  return result;
}

template <class Write>
ssize_t run_write(const char* name, int file, size_t size, const Write& write_some) {
  const Fate fate = fate_of(name, path_of(file), true);
  if (fate == Fate::fails) return -1;
  const ssize_t result = write_some(fate == Fate::is_short ? std::max<size_t>(1, size / 2) : size);
  if (fate == Fate::killed_after) kill(getpid(), SIGKILL);
  return result;
}

/// Files are counted when they are opened to be written; folders are remembered, because they are synced.
template <class Open>
int run_open(const char* path, int flags, const Open& open_it) {
  const bool watched = is_watched(path), writes = (flags & O_ACCMODE) != O_RDONLY;
  if (!watched || (!writes && (flags & O_DIRECTORY) == 0)) return open_it();
  const int file = writes ? run("open", path, (flags & O_CREAT) != 0, open_it) : open_it();
  if (file >= 0 && static_cast<size_t>(file) < open_files.size()) {
    OpenFile& entry = open_files[static_cast<size_t>(file)];
    entry.watched = true;
    std::strncpy(entry.path, path, sizeof entry.path - 1);
  }
  return file;
}

mode_t mode_of(int flags, va_list arguments) {
  return (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

extern "C" {

#define INTERPOSE_OPEN(NAME)                                                  \
  int NAME(const char* path, int flags, ...) {                                \
    va_list arguments;                                                        \
    va_start(arguments, flags);                                               \
    const mode_t mode = mode_of(flags, arguments);                            \
    va_end(arguments);                                                        \
    static const auto next = original<int (*)(const char*, int, ...)>(#NAME); \
    return run_open(path, flags, [=] { return next(path, flags, mode); });    \
  }
INTERPOSE_OPEN(open)
INTERPOSE_OPEN(open64)

ssize_t write(int file, const void* bytes, size_t size) {
  static const auto next = original<ssize_t (*)(int, const void*, size_t)>("write");
  if (!is_watched(file)) return next(file, bytes, size);
  return run_write("write", file, size, [=](size_t some) { return next(file, bytes, some); });
}

ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
  static const auto next = original<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  if (!is_watched(file)) return next(file, bytes, size, offset);
  return run_write("pwrite", file, size, [=](size_t some) { return next(file, bytes, some, offset); });
}

ssize_t writev(int file, const iovec* parts, int count) {
  static const auto next = original<ssize_t (*)(int, const iovec*, int)>("writev");
  if (!is_watched(file)) return next(file, parts, count);
  size_t size = 0;
  for (int i = 0; i < count; ++i) size += parts[i].iov_len;
  return run_write("writev", file, size, [=](size_t some) {
    std::vector<iovec> chosen;
    for (int i = 0; i < count && some > 0; ++i) {
      chosen.push_back({parts[i].iov_base, std::min(some, parts[i].iov_len)});
      some -= chosen.back().iov_len;
    }
    return next(file, chosen.data(), static_cast<int>(chosen.size()));
  });
}

#define INTERPOSE_ON_FILE(NAME, NEEDS_SPACE)                                   \
  int NAME(int file) {                                                         \
    static const auto next = original<int (*)(int)>(#NAME);                    \
    if (!is_watched(file)) return next(file);                                  \
    return run(#NAME, path_of(file), NEEDS_SPACE, [=] { return next(file); }); \
  }
INTERPOSE_ON_FILE(fsync, true)
INTERPOSE_ON_FILE(fdatasync, true)

/// A close that fails has still closed the file.
int close(int file) {
  static const auto next = original<int (*)(int)>("close");
  if (!is_watched(file)) return next(file);
  OpenFile& entry = open_files[static_cast<size_t>(file)];
  entry.watched = false;
  const int result = run("close", entry.path, true, [] { return 0; });
  const int error = errno;
  const int closed = next(file);
  errno = error;
  return result == 0 ? closed : result;
}

int ftruncate(int file, off_t size) noexcept {
  static const auto next = original<int (*)(int, off_t)>("ftruncate");
  if (!is_watched(file)) return next(file, size);
  return run("ftruncate", path_of(file), false, [=] { return next(file, size); });
}

int flock(int file, int operation) noexcept {
  static const auto next = original<int (*)(int, int)>("flock");
  if (!is_watched(file)) return next(file, operation);
  return run("flock", path_of(file), false, [=] { return next(file, operation); });
}

int fchmod(int file, mode_t mode) noexcept {
  static const auto next = original<int (*)(int, mode_t)>("fchmod");
  if (!is_watched(file)) return next(file, mode);
  return run("fchmod", path_of(file), false, [=] { return next(file, mode); });
}

int rename(const char* from, const char* to) noexcept {
  static const auto next = original<int (*)(const char*, const char*)>("rename");
  if (!is_watched(to)) return next(from, to);
  return run("rename", to, false, [=] { return next(from, to); });
}

int unlink(const char* path) noexcept {
  static const auto next = original<int (*)(const char*)>("unlink");
  if (!is_watched(path)) return next(path);
  return run("unlink", path, false, [=] { return next(path); });
}

int mkdir(const char* path, mode_t mode) noexcept {
  static const auto next = original<int (*)(const char*, mode_t)>("mkdir");
  if (!is_watched(path)) return next(path, mode);
  return run("mkdir", path, true, [=] { return next(path, mode); });
}

}  // extern "C"
