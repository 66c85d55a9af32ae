#include "core/files/folder.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "core/error.h"
#include "core/files/file.h"
#include "tests/child.h"
#include "tests/odd_paths.h"

using namespace lamina;
namespace fs = std::filesystem;

TEST_CASE("folder: what there is") {
  const TemporaryFolder folder;
  write_file(folder / "file", "x");
  fs::create_symlink("nowhere", folder / "dangling");
  fs::create_symlink(folder.path(), folder / "link");
  CHECK(exists(folder / "file"));
  CHECK_FALSE(exists(folder / "none"));
  CHECK_FALSE(exists(folder / "file/below"));
  CHECK_FALSE(exists(folder / "dangling"));
  CHECK(is_folder(folder.path()));
  CHECK(is_folder(folder / "link"));
  CHECK_FALSE(is_folder(folder / "file"));
  CHECK_FALSE(is_folder(folder / "none"));
  CHECK(entries_of(folder.path()) ==
        std::vector<std::string>{folder / "dangling", folder / "file", folder / "link"});
}

TEST_CASE(
    "folder: files below it, in the order of their names; a link to a folder is refused, not left out") {
  const TemporaryFolder folder;
  fs::create_directories(folder / "b/c.txt");
  for (const char* const name : {"b/c.txt/z.txt", "b/a.txt", "b/a.xml", "a.txt", "c.txt"})
    write_file(folder / name, "x");
  fs::create_symlink("a.txt", folder / "b/link.txt");
  fs::create_symlink("nowhere", folder / "b/dangling");
  CHECK(files_below(folder.path(), ".txt") ==
        std::vector<std::string>{folder / "a.txt", folder / "b/a.txt", folder / "b/c.txt/z.txt",
                                 folder / "b/link.txt", folder / "c.txt"});
  CHECK(files_below(folder / "b", "a.xml") == std::vector<std::string>{folder / "b/a.xml"});
  CHECK(files_below(folder / "b", "").size() == 5);
  fs::create_symlink("..", folder / "b/up");
  CHECK(message_of<DataError>([&] { files_below(folder.path(), ".txt"); }) ==
        folder / "b/up" +
            ": is a link to a folder, which is not followed; name that folder itself, or put a copy of it "
            "here");
}

TEST_CASE("folder: what cannot be looked at is an error with path and remedy") {
  const TemporaryFolder folder;
  const std::string loop = folder / "loop";
  fs::create_symlink(loop, loop);
  const std::string circle =
      ": cannot be read: Too many levels of symbolic links; remove the link that leads back to itself";
  CHECK(message_of<DataError>([&] { exists(loop); }) == loop + circle);
  CHECK(message_of<DataError>([&] { is_folder(loop + "/below"); }) == loop + "/below" + circle);
  CHECK(message_of<DataError>([&] { entries_of(loop); }) == loop + circle);
  CHECK(message_of<DataError>([&] { entries_of(folder / "none"); }) ==
        folder / "none" + ": cannot be read: No such file or directory; check the name");
  CHECK(message_of<DataError>([&] {
          exists(folder / std::string(300, 'n'));
        }).ends_with(": cannot be read: File name too long; choose a shorter name"));
}

TEST_CASE("folder: one that may not be read is an error with path and remedy") {
  const TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms::all);
  fs::create_directories(folder / "runs/closed/below");
  fs::permissions(folder / "runs/closed", fs::perms::none);
  const std::string forbidden =
      folder /
      "runs/closed: cannot be read: Permission denied; change its permissions (chmod +r, of a "
      "folder chmod +rx)";
  const auto message = [](const std::function<void()>& body) {
    return message_of_child([&] { become_nobody(); }, body);
  };
  CHECK(message([&] { entries_of(folder / "runs/closed"); }) == forbidden);
  CHECK(message([&] { files_below(folder / "runs", ".txt"); }) == forbidden);
  CHECK(message([&] {
          exists(folder / "runs/closed/below");
        }).starts_with(folder / "runs/closed/below: cannot be read: Permission denied"));
  fs::permissions(folder / "runs/closed", fs::perms::all);
}
