// Pictures that say which commit drew them.

#include "models/pictures/picture_file.h"

#include <string>

#include "core/files/file.h"
#include "core/version.h"
#include "models/pictures/png.h"
#include "tests/check.h"
#include "tests/temporary_folder.h"

using namespace lamina;

TEST_CASE("an SVG says where it comes from, in a comment that no viewer shows") {
  const std::string picture = with_origin("<svg><g></g></svg>\n");
  CHECK(picture.starts_with("<svg><g></g><!-- drawn by lamina "));
  CHECK(picture.find(std::string("commit ") + commit()) != std::string::npos);
  CHECK(picture.ends_with("-->\n</svg>\n"));
}

TEST_CASE("a PNG says so in a text chunk with the right length and checksum, in front of its end") {
  const TemporaryFolder folder;
  const std::string path = folder / "dot.png";
  write_png(path, Image(1, 1, {1, 2, 3}));
  const std::string picture = read_file(path);
  const std::string wanted =
      std::string("Software") + '\0' + "drawn by lamina " + version + ", commit " + commit();
  CHECK(picture.ends_with(png_chunk("tEXt", wanted) + png_chunk("IEND", "")));
  // The checksum of an empty IEND is a constant of the format.
  CHECK(png_chunk("IEND", "") == std::string("\0\0\0\0IEND\xae\x42\x60\x82", 12));
}

TEST_CASE("a PNG without pixels is refused, and what was there stays") {
  const TemporaryFolder folder;
  const std::string path = folder / "dot.png";
  write_png(path, Image(1, 1, {1, 2, 3}));
  const std::string before = read_file(path);
  for (const auto& [columns, lines] : {std::pair{0, 1}, {1, 0}, {0, 0}}) {
    const Image none(static_cast<std::size_t>(columns), static_cast<std::size_t>(lines), {});
    CHECK_THROWS_WITH_AS(write_png(path, none), doctest::Contains("pixels; the format keeps 1 to"), Error);
    CHECK_THROWS_AS(write_animation(path, {none}, 1, 1), Error);
  }
  CHECK(read_file(path) == before);
}

TEST_CASE("what is no picture stays as it is") {
  for (const std::string other : {"", "text", "\x89PNG\r\n\x1a\n cut off"})
    CHECK(with_origin(other) == other);
}
