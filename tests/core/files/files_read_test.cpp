// What was read, and what was in it.

#include "core/files/files_read.h"

#include <doctest/doctest.h>

#include <string>

#include "core/files/file.h"
#include "core/files/mapped_file.h"
#include "tests/check.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;

namespace {

/// What reading a file of these bytes notes.
std::string contents_of(const std::string& path, const std::string& bytes) {
  write_file(path, bytes);
  FilesRead files;
  read_file(path);
  return files.contents();
}

}  // namespace

TEST_CASE("files read: a byte that differs is noticed, wherever it is") {
  const TemporaryFolder scratch;
  const std::string path = scratch / "data";
  for (const size_t size : {1U, 8U, 15U, 4000U, (1U << 20) + 3U}) {
    std::string bytes(size, 'a');
    const std::string same = contents_of(path, bytes);
    CHECK(same.starts_with(path + ": " + std::to_string(size) + " bytes, digest "));
    CHECK(contents_of(path, bytes) == same);
    for (const size_t at : {size_t{0}, size / 2, size - 1}) {
      bytes[at] = 'b';
      CHECK(contents_of(path, bytes) != same);
      bytes[at] = 'a';
    }
  }
  CHECK(contents_of(path, "") != contents_of(path, std::string(1, '\0')));
  std::string signs(16, '\0');
  const std::string plain = contents_of(path, signs);
  signs[7] = signs[15] = '\x80';  // the highest bits of two words
  CHECK(contents_of(path, signs) != plain);
}

TEST_CASE("files read: in their order, once, and of the innermost") {
  const TemporaryFolder scratch;
  write_file(scratch / "first", "1");
  write_file(scratch / "second", "2");
  FilesRead files;
  MappedFile(scratch / "second");
  {
    FilesRead inner;
    read_file(scratch / "first");
    CHECK(inner.contents().starts_with(scratch / "first"));
  }
  read_file(scratch / "first");
  const std::string lines = files.contents();
  CHECK(lines.starts_with(scratch / "second"));
  CHECK(lines.find('\n' + (scratch / "first")) != lines.npos);
  CHECK(files.contents().empty());
}
