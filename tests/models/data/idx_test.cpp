#include "models/data/idx.h"

#include <doctest/doctest.h>

#include "core/error.h"
#include "tests/models/data/damage.h"
#include "tests/models/data/idx_files.h"
#include "tests/temporary_folder.h"

using namespace lamina;

namespace {

/// The error for reading `bytes`, without the file's name, with which it must begin.
template <class Read>
std::string complaint(const std::string& bytes, const Read& read) {
  const TemporaryFolder folder;
  const std::string path = folder / "file";
  put(path, bytes);
  const std::string message = message_of<DataError>([&] { read(path); });
  CHECK(message.starts_with(path + ": "));
  CHECK(message.find('\n') == std::string::npos);
  return message.substr(std::min(message.size(), path.size() + 2));
}

std::string about_images(const std::string& bytes) { return complaint(bytes, read_idx_images); }
std::string about_labels(const std::string& bytes) {
  return complaint(bytes, [](const std::string& path) { return read_idx_labels(path); });
}

}  // namespace

TEST_CASE("idx: images and labels, plain and compressed, whatever the name") {
  const TemporaryFolder folder;
  for (bool packed : {false, true}) {
    const auto store = [&](const std::string& bytes) { return packed ? gzipped(bytes) : bytes; };
    put(folder / "images", store(idx_images(5, 3, 4)));
    const IdxImages images = read_idx_images(folder / "images");
    CHECK(images.count == 5);
    CHECK(images.rows == 3);
    CHECK(images.columns == 4);
    REQUIRE(images.pixels.size() == 60);
    CHECK(images.pixels[59] == 59);
    put(folder / "labels.gz", store(idx_labels(12)));
    CHECK(read_idx_labels(folder / "labels.gz") == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1});
  }
}

TEST_CASE("idx: a file larger than one reading step") {
  const TemporaryFolder folder;
  const std::string bytes = idx_images(100, 200, 200);
  put(folder / "images", gzipped(bytes));
  const IdxImages images = read_idx_images(folder / "images");
  CHECK(std::equal(images.pixels.begin(), images.pixels.end(), bytes.begin() + 16,
                   [](std::uint8_t a, char b) { return a == static_cast<std::uint8_t>(b); }));
}

TEST_CASE("idx: errors name the file, the trouble and the remedy") {
  const TemporaryFolder folder;
  CHECK(message_of<DataError>([&] { read_idx_images(folder / "none"); }) ==
        folder / "none" + ": cannot be read: No such file or directory; check the name");
  CHECK(message_of<DataError>([&] { read_idx_labels(folder.path()); }) ==
        folder.path() + ": cannot be read: it is a folder; name a file in it");

  const std::string images = idx_images(2, 3, 4), labels = idx_labels(20);
  CHECK(about_images("") == "is empty; download it again");
  CHECK(about_images(gzipped("")) == "is empty; download it again");
  CHECK(about_images(images.substr(0, 10)) == "ends within its header; download it again");
  CHECK(about_images(images.substr(0, 30)) ==
        "ends after 14 of the 24 bytes that its header promises; download it again");
  CHECK(about_images(gzipped(images.substr(0, 30))) ==
        "ends after 14 of the 24 bytes that its header promises; download it again");
  CHECK(about_images(images + "x") ==
        "holds more than the 24 bytes that its header promises; download it again");
  CHECK(about_images(labels) ==
        "is an IDX label file, not an IDX image file; check which file goes under which name, or download it "
        "again");
  CHECK(about_labels(images) ==
        "is an IDX image file, not an IDX label file; check which file goes under which name, or download it "
        "again");
  CHECK(about_labels("<html>not found</html>").starts_with("is something else, not an IDX label file; "));
  CHECK(about_images(idx_images(2, 0, 4)) ==
        "its header promises 2 images of 0 x 4 pixels, which is nothing; download it again");
  CHECK(about_labels(idx_labels(0)) == "its header promises 0 labels, which is nothing; download it again");
}

TEST_CASE("idx: a label outside the classes is named with its position") {
  std::string labels = idx_labels(20);
  labels[8 + 4] = 10;
  CHECK(about_labels(labels) ==
        "label number 5 of 20 is 10, where 0 to 9 is expected; this file belongs to another data set or is "
        "damaged");
  const TemporaryFolder folder;
  put(folder / "labels", labels);
  CHECK(read_idx_labels(folder / "labels", 11)[4] == 10);
}

TEST_CASE("idx: a damaged or shortened gzip file is noticed, up to its last byte") {
  const std::string packed = gzipped(idx_images(20, 7, 7));
  std::string wrong_sum = packed;
  wrong_sum[packed.size() - 8] ^= 1;
  CHECK(about_images(wrong_sum) == "is damaged (gzip: incorrect data check); download it again");
  for (size_t size = 1; size < packed.size(); ++size)
    CHECK_FALSE(about_images(packed.substr(0, size)).empty());
}

TEST_CASE("idx: absurd promises cost no memory") {
  constexpr std::uint32_t huge = 0xffffffff;
  for (const std::string& bytes : {idx_header({0x803, huge, huge, huge}), idx_header({0x803, huge, 28, 28}),
                                   idx_header({0x803, 1, 0x10000, 0x10000})}) {
    CHECK(about_images(bytes).find("more than this program reads") != std::string::npos);
    CHECK(about_images(gzipped(bytes)).find("more than this program reads") != std::string::npos);
  }
  CHECK(about_images(idx_header({0x803, 1 << 20, 32, 32}) + "few")
            .starts_with("ends after 3 of the 1073741824 "));
  CHECK(about_labels(idx_header({0x801, huge})).find("more than this program reads") != std::string::npos);
  // A decompression bomb: 20 MB of zeros in 20 kB, after a header that promises 9 bytes.
  CHECK(about_images(gzipped(idx_images(1, 3, 3) + std::string(20'000'000, '\0'))) ==
        "holds more than the 9 bytes that its header promises; download it again");
}

TEST_CASE("idx: mutations parse to consistent sizes or are refused") {
  const TemporaryFolder folder;
  const std::string path = folder / "mutant";
  Random random(2016);
  int parsed = 0, refused = 0;
  for (const std::string& original : {idx_images(4, 5, 6), gzipped(idx_images(4, 5, 6)), idx_labels(40),
                                      gzipped(idx_labels(40)), gzipped(idx_images(9, 20, 20))}) {
    for (int i = 0; i < 1000; ++i) {
      put(path, mutated(original, 24, random));
      try {
        const IdxImages images = read_idx_images(path);
        REQUIRE(images.pixels.size() == images.count * images.rows * images.columns);
        REQUIRE_FALSE(images.pixels.empty());
        ++parsed;
      } catch (const DataError& error) {
        REQUIRE(std::string(error.what()).starts_with(path + ": "));
        ++refused;
      }
      try {
        for (int label : read_idx_labels(path)) REQUIRE((label >= 0 && label < 10));
        ++parsed;
      } catch (const DataError& error) {
        REQUIRE(std::string(error.what()).starts_with(path + ": "));
        ++refused;
      }
    }
  }
  // Both kinds of outcome must have been exercised.
  CHECK(parsed > 300);
  CHECK(refused > 3000);
}
