// The .amat reader, binarization, and the pictures' file format.

#include <zlib.h>

#include <algorithm>

#include "core/files/file.h"
#include "models/draw/data.h"
#include "models/pictures/png.h"
#include "tests/check.h"
#include "tests/models/data/damage.h"
#include "tests/models/data/idx_files.h"
#include "tests/temporary_folder.h"

using namespace lamina;
using namespace lamina::test;
namespace d = lamina::draw;

namespace {

/// The error for reading `bytes` as images of three pixels, without the file's name, with which it must
/// begin.
std::string complaint(const std::string& bytes) {
  const TemporaryFolder folder;
  const std::string path = folder / "file.amat";
  put(path, bytes);
  const std::string message = message_of<DataError>([&] { d::read_amat(path, 3); });
  CHECK(message.starts_with(path + ": line "));
  CHECK_FALSE(contains(message, "\n"));
  return message.substr(std::min(message.size(), path.size() + 2));
}

/// An .amat file of `count` images of 784 pixels, number i with its first i pixels set.
std::string amat(size_t count) {
  std::string lines;
  for (size_t i = 0; i < count; ++i)
    for (size_t pixel = 0; pixel < 784; ++pixel) lines += text(pixel < i ? 1 : 0, pixel == 783 ? '\n' : ' ');
  return lines;
}

size_t ink(const d::BinaryImages& images) {
  return static_cast<size_t>(std::ranges::count(images.pixels, 1));
}

}  // namespace

TEST_CASE("draw data: an .amat file, with any blanks and line ends") {
  const TemporaryFolder folder;
  for (const std::string bytes : {"0 1 0\n1 1 0\n", "0 1 0\n1 1 0", "0\t1  0 \r\n 1 1 0\r\n\n"}) {
    put(folder / "a", bytes);
    CHECK(d::read_amat(folder / "a", 3) == std::vector<std::uint8_t>{0, 1, 0, 1, 1, 0});
  }
}

TEST_CASE("draw data: what is wrong with an .amat file is named with its line") {
  CHECK(complaint("") == "line 1: the file is empty; download it again");
  CHECK(complaint("\n\n") == "line 1: the file is empty; download it again");
  CHECK(complaint("0 1 0\n0 1\n") == "line 2: has 2 columns, not 3; download it again");
  CHECK(complaint("0 1 0 1\n") == "line 1: has 4 columns, not 3; download it again");
  CHECK(complaint("0 1 0\n\n0 1 0\n") == "line 2: has 0 columns, not 3; download it again");
  CHECK(complaint("0 1 0\n0 2 0\n") == "line 2: '2' where 0 or 1 is expected; download it again");
  CHECK(complaint("0 1 0\n0 10 0\n") == "line 2: '10' where 0 or 1 is expected; download it again");
  CHECK(complaint("0 1 0.5\n") == "line 1: '0.5' where 0 or 1 is expected; download it again");
  CHECK(complaint(gzipped("0 1 0\n")).starts_with("line 1: '"));
  const std::string none = message_of<DataError>([] { d::read_amat("nowhere.amat"); });
  CHECK(none == "nowhere.amat: cannot be read: No such file or directory; check the name");
}

TEST_CASE("draw data: mutations of an .amat file parse to whole images or are refused") {
  const TemporaryFolder folder;
  const std::string path = folder / "mutant", original = "0 1 0\n1 1 0\n0 0 0\n1 0 1\n";
  Random random(2011);
  int parsed = 0, refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = original;
    const size_t at = random.below(static_cast<std::uint32_t>(bytes.size()));
    switch (random.below(3)) {
      case 0:
        bytes[at] = static_cast<char>(random.bits());
        break;
      case 1:
        bytes.erase(at, 1 + random.below(8));
        break;
      default:
        bytes.insert(at, 1 + random.below(3), "01 \n"[random.below(4)]);
    }
    put(path, bytes);
    try {
      const auto pixels = d::read_amat(path, 3);
      REQUIRE(pixels.size() % 3 == 0);
      REQUIRE(std::ranges::all_of(pixels, [](std::uint8_t p) { return p <= 1; }));
      ++parsed;
    } catch (const DataError& error) {
      REQUIRE(std::string(error.what()).starts_with(path + ": line "));
      ++refused;
    }
  }
  CHECK(parsed > 300);
  CHECK(refused > 1000);
}

TEST_CASE("draw data: the fixed binarization is read when its files are there") {
  const TemporaryFolder folder;
  put(folder / "binarized_mnist_train.amat", amat(5));
  put(folder / "binarized_mnist_valid.amat", amat(2));
  put(folder / "binarized_mnist_test.amat", amat(3));
  const d::DrawData data = d::load_binary_mnist(folder.path());
  CHECK(data.source ==
        "binarized MNIST (.amat) in " + folder.path() + ": 5 training, 2 validation and 3 test images");
  const std::vector<int> chosen{4, 1};
  const Tensor batch = data.train.batch(chosen);
  CHECK(batch.shape() == Shape{2, 784});
  CHECK(static_cast<double>(sum(batch.slice(0, 1)).item()) == 4);
  CHECK(static_cast<double>(sum(batch.slice(1, 2)).item()) == 1);
  std::filesystem::remove(folder / "binarized_mnist_test.amat");
  CHECK(message_of<DataError>([&] {
          d::load_binary_mnist(folder.path());
        }).starts_with(folder / "binarized_mnist_test.amat" + ": cannot be read"));
  std::filesystem::remove(folder /
                          "binarized_mnist_train.amat");  // then it is not MNIST's own files that are missing
  CHECK(message_of<DataError>([&] {
          d::load_binary_mnist(folder.path());
        }).starts_with(folder / "binarized_mnist_train.amat" + ": cannot be read"));
}

TEST_CASE("draw data: MNIST's files are binarized once, and at least a sixth of them is for validation") {
  const TemporaryFolder folder;
  constexpr std::uint32_t train = 6000, test = 9;
  put(folder / "train-images-idx3-ubyte", idx_images(train, 28, 28));
  put(folder / "train-labels-idx1-ubyte", idx_labels(train));
  put(folder / "t10k-images-idx3-ubyte", idx_images(test, 28, 28));
  put(folder / "t10k-labels-idx1-ubyte", idx_labels(test));
  const d::DrawData data = d::load_binary_mnist(folder.path()), again = d::load_binary_mnist(folder.path());
  CHECK(data.train.count() == 1000);  // the loader has already set 5,000 aside
  CHECK(data.valid.count() == 5000);
  CHECK(data.test.count() == test);
  CHECK(contains(data.source, "binarized here once and for all (seed 2011), not the fixed binarization"));
  CHECK(data.train.pixels == again.train.pixels);
  // intensities are (i mod 251) / 255: on average 125 / 255
  CHECK(static_cast<double>(ink(data.train)) / (1000.0 * 784) == doctest::Approx(125.0 / 255).epsilon(0.01));
}

TEST_CASE("draw data: the last images of the training file are moved until a sixth is for validation") {
  const auto split = [](size_t train, size_t valid) {  // number i has the intensity i everywhere
    MnistData data;
    for (size_t i = 0; i < train + valid; ++i) {
      std::vector<real>& pixels = (i < train ? data.train : data.valid).pixels;
      pixels.insert(pixels.end(), 784, static_cast<real>(i));
    }
    return d::with_larger_validation(data);
  };
  const MnistData more = split(19, 1);  // of 20 images the last 20 / 6 = 3
  CHECK(more.train.pixels.size() == 17 * 784);
  CHECK(more.train.pixels.back() == 16);
  REQUIRE(more.valid.pixels.size() == 3 * 784);
  CHECK(more.valid.pixels.front() == 17);
  CHECK(more.valid.pixels.back() == 19);
  const MnistData enough = split(10, 2);
  CHECK(enough.train.pixels.size() == 10 * 784);
  CHECK(enough.valid.pixels.size() == 2 * 784);
}

TEST_CASE("draw data: black stays 1, white stays 0, and parts differ") {
  const std::vector<real> black(784, 1), white(784, 0), grey(784, real(0.5));
  CHECK(ink(d::binarized(black, 0)) == 784);
  CHECK(ink(d::binarized(white, 0)) == 0);
  CHECK(d::binarized(grey, 0).pixels == d::binarized(grey, 0).pixels);
  CHECK(d::binarized(grey, 0).pixels != d::binarized(grey, 1).pixels);
  const auto two = d::binarized(std::vector<real>(2 * 784, real(0.5)), 0).pixels;
  CHECK(std::equal(two.begin(), two.begin() + 784, d::binarized(grey, 0).pixels.begin()));
  CHECK_FALSE(std::equal(two.begin(), two.begin() + 784, two.begin() + 784));
}

namespace {

struct Chunk {
  std::string type, data;
};

std::uint32_t number(const std::string& bytes, size_t at) {
  std::uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

/// The chunks of a PNG file, whose checksums must be right.
std::vector<Chunk> chunks_of(const std::string& path) {
  const std::string bytes = read_file(path);
  REQUIRE(bytes.starts_with("\x89PNG\r\n\x1a\n"));
  std::vector<Chunk> chunks;
  for (size_t at = 8; at < bytes.size();) {
    const size_t length = number(bytes, at);
    const std::string checked = bytes.substr(at + 4, 4 + length);
    const auto sum =
        crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
    CHECK(number(bytes, at + 8 + length) == sum);
    chunks.push_back({checked.substr(0, 4), checked.substr(4)});
    at += 12 + length;
  }
  return chunks;
}

std::string unpacked(const std::string& data, size_t size) {
  std::string rows(size, '\0');
  uLongf received = static_cast<uLongf>(size);
  REQUIRE(uncompress(reinterpret_cast<Bytef*>(rows.data()), &received,
                     reinterpret_cast<const Bytef*>(data.data()), static_cast<uLong>(data.size())) == Z_OK);
  CHECK(received == size);
  return rows;
}

}  // namespace

TEST_CASE("png: a picture holds its pixels behind a filter byte a row") {
  const TemporaryFolder folder;
  Image image(3, 2, {1, 2, 3});
  image.at(2, 1) = {7, 8, 9};
  write_png(folder / "a.png", image);
  const auto chunks = chunks_of(folder / "a.png");
  REQUIRE(chunks.size() == 4);
  CHECK(chunks[0].type == "IHDR");
  CHECK(number(chunks[0].data, 0) == 3);
  CHECK(number(chunks[0].data, 4) == 2);
  CHECK(chunks[1].type == "IDAT");
  CHECK(unpacked(chunks[1].data, 20) == std::string("\0\1\2\3\1\2\3\1\2\3\0\1\2\3\1\2\3\7\x8\x9", 20));
  CHECK(chunks[2].type == "tEXt");  // the commit that drew it
  CHECK(chunks[3].type == "IEND");
}

TEST_CASE("png: an animation numbers its frames and rests on the last") {
  const TemporaryFolder folder;
  const std::vector<Image> frames{{2, 1, {0, 0, 0}}, {2, 1, {5, 5, 5}}};
  write_animation(folder / "a.png", frames, 80, 2000);
  const auto chunks = chunks_of(folder / "a.png");
  std::string types;
  for (const Chunk& chunk : chunks) types += chunk.type + " ";
  REQUIRE(types == "IHDR acTL fcTL IDAT fcTL fdAT tEXt IEND ");
  CHECK(number(chunks[1].data, 0) == 2);                    // frames
  CHECK(number(chunks[2].data, 20) == (80u << 16 | 1000));  // 80 / 1000 s
  CHECK(number(chunks[4].data, 20) == (2000u << 16 | 1000));
  CHECK(number(chunks[2].data, 0) == 0);
  CHECK(number(chunks[4].data, 0) == 1);
  CHECK(number(chunks[5].data, 0) == 2);
  CHECK(unpacked(chunks[5].data.substr(4), 7) == std::string("\0\5\5\5\5\5\5", 7));
  CHECK_ERROR(write_animation(folder / "b.png", {}, 80, 80), "png: an animation of no frames");
  CHECK_ERROR(write_animation(folder / "b.png", frames, 80, 65536),
              "png: a frame of 65536 milliseconds; the format keeps 0 to 65535");
  CHECK_ERROR(write_animation(folder / "b.png", {{2, 1, {}}, {1, 2, {}}}, 80, 80),
              "png: frames of 2 x 1 and 1 x 2; all must be of one size");
}
