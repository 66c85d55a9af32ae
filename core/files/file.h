#pragma once
// Whole files, in and out. Reading fails with a reason that a user can act on. Writing is safe: the file of
// that name is at every moment either the old one or the complete new one, also when the disk fills up, the
// program is killed or the power fails.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace lamina {

using std::size_t;

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor();

  int number() const { return number_; }

  /// Hands the descriptor over to the caller, who closes it.
  int release();

 private:
  int number_;
};

/// Opens a regular file for reading. Throws DataError with the file's name and the remedy when it is missing,
/// may not be read, or is anything else: a folder, a FIFO, a device, a socket. Never waits, as opening a FIFO
/// that nobody writes to would.
Descriptor open_to_read(const std::string& path);

/// The size in bytes of an open file, which `path` names in errors.
size_t size_of(const std::string& path, const Descriptor& file);

inline constexpr size_t unlimited = static_cast<size_t>(-1);

/// All bytes of a regular file. Errors as for `open_to_read`, and DataError for a file of more than `limit`
/// bytes or one that does not fit into the memory.
std::string read_file(const std::string& path, size_t limit = unlimited);

/// Throws the DataError of a file or folder that cannot be read for the reason `error`, a value of errno.
[[noreturn]] void fail_to_read(const std::string& path, int error);

/// Replaces the file `path`, or creates it, with `bytes` as its content; keeps the permissions of the old
/// one. On any failure the old file is untouched, nothing is left behind, and a DataError names the file and
/// the remedy.
void write_file(const std::string& path, std::string_view bytes);

/// The same for content that lies in several places, which saves putting it together in memory.
void write_file(const std::string& path, std::span<const std::string_view> parts);

/// Appends `bytes` to the file `path`, or creates it. On failure the file is as long as before and a DataError
/// names it and the remedy. Only `sync_file` makes sure that the bytes outlast a power cut.
void append_to_file(const std::string& path, std::string_view bytes);

/// Returns once all that was written to the file is on the disk. DataError when that fails.
void sync_file(const std::string& path);

/// Removes from `folder` the unfinished files that killed processes left there: those that `write_file` began
/// in this process or in one that no longer runs. Failures are passed over: such a file does no harm.
void remove_unfinished_files(const std::string& folder);

}  // namespace lamina
