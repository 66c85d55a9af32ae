#include "core/files/file.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "core/error.h"
#include "tests/child.h"
#include "tests/odd_paths.h"

using namespace lamina;
namespace fs = std::filesystem;

namespace {

mode_t permissions(const std::string& path) {
  struct stat status;
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

/// The text of the DataError that `body` throws where no file can grow beyond `limit` bytes: a full disk,
/// which stops even root.
std::string message_with_file_limit(rlim_t limit, const std::function<void()>& body) {
  return message_of_child(
      [=] {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit bound{limit, limit};
        ::setrlimit(RLIMIT_FSIZE, &bound);
      },
      body);
}

}  // namespace

TEST_CASE("file: what is written is read back, byte for byte") {
  const TemporaryFolder folder;
  const std::string path = folder / "file";
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes.push_back(static_cast<char>(i * 7));
  for (const std::string& content : {bytes, std::string(), std::string("\0\n", 2)}) {
    write_file(path, content);
    CHECK(read_file(path) == content);
  }
  CHECK(folder.size() == 1);
}

TEST_CASE("file: more parts than the system takes at once, empty ones among them") {
  const TemporaryFolder folder;
  std::vector<std::string> parts;
  for (size_t i = 0; i < 2500; ++i) parts.push_back(std::string(i % 7, static_cast<char>('a' + i % 26)));
  std::string expected;
  for (const std::string& part : parts) expected += part;
  write_file(folder / "parts", std::vector<std::string_view>(parts.begin(), parts.end()));
  CHECK(read_file(folder / "parts") == expected);
  write_file(folder / "none", std::vector<std::string_view>{});
  CHECK(read_file(folder / "none").empty());
}

TEST_CASE("file: a name without a folder is in the current folder") {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write_file("plain", "text");
  const std::string content = read_file("plain");
  fs::current_path(before);
  CHECK(content == "text");
  CHECK(folder.size() == 1);
}

TEST_CASE("file: permissions and symbolic links survive a replacement") {
  const TemporaryFolder folder;
  const mode_t mask = ::umask(027);
  write_file(folder / "real", "old");
  ::umask(mask);
  CHECK(permissions(folder / "real") == 0640);
  REQUIRE(::chmod((folder / "real").c_str(), 0604) == 0);
  fs::create_symlink("real", folder / "link");
  write_file(folder / "link", "new");
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(read_file(folder / "real") == "new");
  CHECK(permissions(folder / "real") == 0604);
}

TEST_CASE("file: a link to a file that does not exist yet stays a link, and the file is created") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "below");
  fs::create_symlink("below/second", folder / "first");
  fs::create_symlink("third", folder / "below/second");
  write_file(folder / "first", "new");
  CHECK(fs::is_symlink(folder / "first"));
  CHECK(fs::is_symlink(folder / "below/second"));
  CHECK(read_file(folder / "below/third") == "new");
}

TEST_CASE("file: a failed write leaves the old file and nothing else") {
  const TemporaryFolder folder;
  const std::string path = folder / "model";
  write_file(path, "old");
  const std::string message =
      message_with_file_limit(4096, [&] { write_file(path, std::string(100'000, 'x')); });
  CHECK(message == path +
                       ": cannot be written: File too large; raise the limit (ulimit -f) or choose another "
                       "folder");
  CHECK(read_file(path) == "old");
  CHECK(folder.size() == 1);
  const std::string at_once = message_with_file_limit(0, [&] { write_file(folder / "other", "x"); });
  CHECK(at_once.find("other: cannot be written") != std::string::npos);
  CHECK(folder.size() == 1);
}

TEST_CASE("file: reading says what is wrong and what to do, and never waits") {
  const TemporaryFolder folder;
  for (const OddPath& odd : odd_paths(folder))
    CHECK(message_of<DataError>([&] { read_file(odd.path); }) == text(odd.path, ": ", odd.complaint));
  write_file(folder / "secret", "x");
  REQUIRE(::chmod((folder / "secret").c_str(), 0) == 0);
  REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
  CHECK(message_of_child(become_nobody, [&] { read_file(folder / "secret"); }) ==
        folder / "secret" +
            ": cannot be read: Permission denied; change its permissions (chmod +r, of a folder chmod +rx)");
}

TEST_CASE("file: the limit on a file's size, and files without one") {
  const TemporaryFolder folder;
  write_file(folder / "file", "12345");
  CHECK(read_file(folder / "file", 5) == "12345");
  const std::string too_large =
      ": cannot be read: it has more than the 4 bytes of the largest such file; check the name";
  CHECK(message_of<DataError>([&] { read_file(folder / "file", 4); }) == folder / "file" + too_large);
  CHECK(read_file("/proc/self/cmdline").find("-tests") != std::string::npos);
  CHECK(message_of<DataError>([&] { read_file("/proc/self/cmdline", 4); }) ==
        "/proc/self/cmdline" + too_large);
  fs::resize_file(folder / "file", std::uintmax_t{1} << 42);  // a hole, which takes no space on the disk
  CHECK(message_of<DataError>([&] { read_file(folder / "file"); }) ==
        folder / "file" +
            ": cannot be read: its 4398046511104 bytes do not fit into the memory; check the name");
}

TEST_CASE("file: writing says what is wrong and what to do") {
  const TemporaryFolder folder;
  const auto message = [](const std::string& path) {
    return message_of<DataError>([&] { write_file(path, "x"); });
  };
  CHECK(message(folder / "none/file") ==
        folder / "none/file" + ": cannot be written: No such file or directory; create its folder first");
  CHECK(message(folder.path()) == folder.path() + ": cannot be written: it is a folder; choose another name");
  CHECK(message("/dev/null") ==
        "/dev/null: cannot be written: it is not a regular file; choose another name");
  CHECK(message(folder / std::string(300, 'n')).ends_with("File name too long; choose a shorter name"));
  write_file(folder / "file", "x");
  CHECK(message(folder / "file/below").ends_with("Not a directory; choose another folder"));
  CHECK(folder.size() == 1);
}

TEST_CASE("file: bytes are appended, all of them or none") {
  const TemporaryFolder folder;
  const std::string path = folder / "rows";
  append_to_file(path, "one\n");
  append_to_file(path, "two\n");
  sync_file(path);
  CHECK(read_file(path) == "one\ntwo\n");
  const std::string message =
      message_with_file_limit(4096, [&] { append_to_file(path, std::string(100'000, 'x')); });
  CHECK(message.starts_with(path + ": cannot be written: File too large"));
  CHECK(read_file(path) == "one\ntwo\n");
  CHECK(message_of<DataError>([&] {
          append_to_file(folder / "none/rows", "x");
        }).starts_with(folder / "none/rows: cannot be written"));
  CHECK(message_of<DataError>([&] {
          sync_file(folder / "none");
        }).starts_with(folder / "none: cannot be written"));
}
