#include "core/files/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <optional>
#include <regex>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/files/files_read.h"

namespace lamina {

namespace {

const char* remedy_for_reading(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return "check the name";
    case EACCES:
    case EPERM:
      return "change its permissions (chmod +r, of a folder chmod +rx)";
    case ELOOP:
      return "remove the link that leads back to itself";
    case ENAMETOOLONG:
      return "choose a shorter name";
    case EMFILE:
    case ENFILE:
      return "close other files or raise the limit (ulimit -n)";
    default:
      return "check the disk";
  }
}

const char* remedy_for_writing(int error) {
  switch (error) {
    case ENOENT:
      return "create its folder first";
    case ENOSPC:
    case EDQUOT:
      return "free some space or choose another folder";
    case EFBIG:
      return "raise the limit (ulimit -f) or choose another folder";
    case ENAMETOOLONG:
      return "choose a shorter name";
    case EMFILE:
    case ENFILE:
      return "close other files or raise the limit (ulimit -n)";
    default:
      return "choose another folder";
  }
}

/// Only a regular file has all its bytes available: a FIFO may never deliver any, and /dev/zero never ends.
void require_regular(const std::string& path, mode_t mode) {
  if (S_ISREG(mode)) return;
  if (S_ISDIR(mode)) fail<DataError>(path, ": cannot be read: it is a folder; name a file in it");
  fail<DataError>(path, ": cannot be read: it is a ",
                  S_ISFIFO(mode)   ? "FIFO"
                  : S_ISSOCK(mode) ? "socket"
                                   : "device",
                  "; name a regular file");
}

[[noreturn]] void fail_for_memory(const std::string& path, size_t size) {
  fail<DataError>(path, ": cannot be read: its ", size, " bytes do not fit into the memory; check the name");
}

/// A file with holes can be larger than all memory; filling that would kill the program, and others with it.
void require_memory(const std::string& path, size_t size) {
  const auto memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (static_cast<double>(size) >= memory) fail_for_memory(path, size);
}

/// Appends to `bytes`, whose size is a hint (files in /proc have none, a growing file has the wrong one), all
/// that there is, up to one byte more than `limit`.
void read_all(const std::string& path, const Descriptor& file, size_t limit, std::string& bytes) {
  size_t used = 0;
  while (used <= limit) {
    const ssize_t received = ::read(file.number(), bytes.data() + used, bytes.size() - used);
    if (received < 0 && errno == EINTR) continue;
    if (received < 0) fail_to_read(path, errno);
    if (received == 0) break;
    used += static_cast<size_t>(received);
    if (used == bytes.size()) bytes.resize(2 * bytes.size() + 4096);
  }
  bytes.resize(used);
}

[[noreturn]] void cannot_write(const std::string& path, int error) {
  fail<DataError>(path, ": cannot be written: ", std::strerror(error), "; ", remedy_for_writing(error));
}

/// Removes the temporary file unless it has become the real one.
class Temporary {
 public:
  explicit Temporary(std::string path) : path_(std::move(path)) {}
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  /// Puts the file under its final name in one step; false when that fails.
  bool rename_to(const std::string& path) {
    if (std::rename(path_.c_str(), path.c_str()) != 0) return false;
    path_.clear();
    return true;
  }

 private:
  std::string path_;
};

/// Where the bytes really go: a symbolic link stays a link, to the new file, also when there was none.
std::string resolved(const std::string& path) {
  std::error_code error;
  const auto target = std::filesystem::canonical(path, error);
  if (!error) return target.string();
  constexpr int most_links = 40;  // as many as the system follows
  std::filesystem::path place = path;
  for (int links = 0; links < most_links && std::filesystem::is_symlink(place, error); ++links)
    place = place.parent_path() / std::filesystem::read_symlink(place, error);
  return std::filesystem::is_symlink(place, error) ? path : place.string();
}

/// The permissions of the file being replaced; nothing when there is none.
std::optional<mode_t> permissions_of_old(const std::string& path, const std::string& target) {
  struct stat old;
  if (::stat(target.c_str(), &old) != 0) return std::nullopt;
  if (S_ISDIR(old.st_mode)) fail<DataError>(path, ": cannot be written: it is a folder; choose another name");
  // Renaming onto /dev/null would replace the device, not discard the bytes.
  if (!S_ISREG(old.st_mode)) {
    fail<DataError>(path, ": cannot be written: it is not a regular file; choose another name");
  }
  return old.st_mode & 07777;
}

/// "state.4711-0.lamina-tmp": after the name the id of the writing process, and an ending that nobody else uses.
constexpr std::string_view unfinished = ".lamina-tmp";

/// Creates a file beside the target, under a name that no other process and no other thread uses.
std::pair<Descriptor, std::string> create_beside(const std::string& path, const std::string& target,
                                                 mode_t mode) {
  static std::atomic<unsigned> serial{0};
  for (;;) {
    const std::string name = text(target, ".", ::getpid(), "-", serial++, unfinished);
    const int number = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (number >= 0) return {Descriptor(number), name};
    if (errno != EEXIST) cannot_write(path, errno);  // EEXIST: left by a killed process with the same id
  }
}

/// Writes all parts, as many with one call as the system takes: a model's tensors are mostly small.
void write_all(const std::string& path, int number, std::span<const std::string_view> parts) {
  std::vector<iovec> left;  // what is not written yet
  for (const std::string_view part : parts)
    if (!part.empty()) left.push_back({const_cast<char*>(part.data()), part.size()});
  for (size_t first = 0; first < left.size();) {
    const ssize_t result =
        ::writev(number, &left[first], static_cast<int>(std::min<size_t>(left.size() - first, IOV_MAX)));
    if (result < 0 && errno == EINTR) continue;
    if (result < 0) cannot_write(path, errno);
    auto written = static_cast<size_t>(result);
    for (; first < left.size() && written >= left[first].iov_len; ++first) written -= left[first].iov_len;
    if (written == 0) continue;
    left[first].iov_base = static_cast<char*>(left[first].iov_base) + written;
    left[first].iov_len -= written;
  }
}

/// The process that began a file of such a name, or 0 when the name is of another kind.
pid_t writer_of(const std::string& name) {
  static const std::regex pattern(R"(.+\.([1-9][0-9]{0,8})-[0-9]+\.lamina-tmp)");
  std::smatch parts;
  return std::regex_match(name, parts, pattern) ? static_cast<pid_t>(std::stol(parts[1])) : 0;
}

/// A rename is on the disk only once its folder is synced. Some file systems cannot sync a folder and say
/// EINVAL; a folder that may be written but not read cannot even be opened. Neither is a reason to lose the
/// file.
void sync_folder_of(const std::string& path, const std::string& target) {
  const std::string parent = std::filesystem::path(target).parent_path().string();
  const Descriptor folder(::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.number() < 0) return;
  if (::fsync(folder.number()) != 0 && errno != EINVAL && errno != ENOTSUP) cannot_write(path, errno);
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

int Descriptor::release() { return std::exchange(number_, -1); }

void fail_to_read(const std::string& path, int error) {
  fail<DataError>(path, ": cannot be read: ", std::strerror(error), "; ", remedy_for_reading(error));
}

Descriptor open_to_read(const std::string& path) {
  struct stat status;
  // Looked at before as well: opening a device can have side effects.
  if (::stat(path.c_str(), &status) != 0) fail_to_read(path, errno);
  require_regular(path, status.st_mode);
  Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (file.number() < 0) fail_to_read(path, errno);
  if (::fstat(file.number(), &status) != 0) fail_to_read(path, errno);
  require_regular(path, status.st_mode);
  FilesRead::note(path);
  return file;
}

size_t size_of(const std::string& path, const Descriptor& file) {
  struct stat status;
  if (::fstat(file.number(), &status) != 0) fail_to_read(path, errno);
  return static_cast<size_t>(status.st_size);
}

std::string read_file(const std::string& path, size_t limit) {
  const Descriptor file = open_to_read(path);
  const size_t size = size_of(path, file);
  std::string bytes;
  if (size <= limit) {
    require_memory(path, size);
    try {
      bytes.resize(size + 1);  // one byte more finds the end
      read_all(path, file, limit, bytes);
    } catch (const std::bad_alloc&) {
      fail_for_memory(path, size);
    }
  }
  if (std::max(size, bytes.size()) > limit)
    fail<DataError>(path, ": cannot be read: it has more than the ", limit,
                    " bytes of the largest such file; check the name");
  return bytes;
}

void write_file(const std::string& path, std::string_view bytes) { write_file(path, {&bytes, 1}); }

void write_file(const std::string& path, std::span<const std::string_view> parts) {
  const std::string target = resolved(path);
  const std::optional<mode_t> permissions = permissions_of_old(path, target);
  auto [file, name] = create_beside(path, target, permissions ? 0600 : 0666);
  Temporary temporary(name);
  write_all(path, file.number(), parts);
  // Some file systems have no permissions to keep; then the file stays with its owner alone.
  if (permissions) ::fchmod(file.number(), *permissions);
  if (::fsync(file.number()) != 0) cannot_write(path, errno);
  if (::close(file.release()) != 0) cannot_write(path, errno);  // a network disk reports a lost write here
  if (!temporary.rename_to(target)) cannot_write(path, errno);
  sync_folder_of(path, target);
}

void append_to_file(const std::string& path, std::string_view bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  if (file.number() < 0) cannot_write(path, errno);
  const off_t length = ::lseek(file.number(), 0, SEEK_END);
  try {
    write_all(path, file.number(), {&bytes, 1});
  } catch (const DataError&) {
    // A partial line would corrupt the next one. A device has no length to truncate to.
    if (length >= 0) [[maybe_unused]]
      const int ignored = ::ftruncate(file.number(), length);
    throw;
  }
  if (::close(file.release()) != 0) cannot_write(path, errno);
}

void sync_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.number() < 0 || ::fdatasync(file.number()) != 0) cannot_write(path, errno);
}

void remove_unfinished_files(const std::string& folder) {
  std::error_code ignored;
  for (std::filesystem::directory_iterator entry(folder, ignored), end; entry != end;
       entry.increment(ignored)) {
    const pid_t writer = writer_of(entry->path().filename().string());
    const bool runs = writer != ::getpid() && (::kill(writer, 0) == 0 || errno == EPERM);
    if (writer != 0 && !runs) ::unlink(entry->path().c_str());
  }
}

}  // namespace lamina
