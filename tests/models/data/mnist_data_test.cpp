#include "models/data/mnist_data.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <span>

#include "core/error.h"
#include "core/files/file.h"
#include "models/data/digits.h"
#include "tests/data_folder.h"
#include "tests/models/data/idx_files.h"
#include "tests/temporary_folder.h"

using namespace lamina;

namespace {

constexpr std::uint32_t train_count = 5003, test_count = 7;

void write_files(const TemporaryFolder& folder) {
  write_file(folder / "train-images-idx3-ubyte.gz", gzipped(idx_images(train_count, 28, 28)));
  write_file(folder / "train-labels-idx1-ubyte", idx_labels(train_count));
  write_file(folder / "t10k-images-idx3-ubyte", idx_images(test_count, 28, 28));
  write_file(folder / "t10k-labels-idx1-ubyte.gz", gzipped(idx_labels(test_count)));
}

std::string complaint(const std::string& folder) {
  return message_of<DataError>([&] { load_mnist(folder); });
}

void check_split(const DigitSplit& split, size_t count) {
  CHECK(split.count() == count);
  REQUIRE(split.pixels.size() == count * digit_pixels);
  CHECK(std::all_of(split.pixels.begin(), split.pixels.end(), [](real p) { return p >= 0 && p <= 1; }));
  CHECK(std::all_of(split.labels.begin(), split.labels.end(),
                    [](int label) { return label >= 0 && label < 10; }));
}

}  // namespace

TEST_CASE("mnist data: the last 5,000 of the training file are for validation") {
  const TemporaryFolder folder;
  write_files(folder);
  const MnistData data = load_mnist(folder.path());
  check_split(data.train, 3);
  check_split(data.valid, 5000);
  check_split(data.test, test_count);
  CHECK(data.train.labels == std::vector<int>{0, 1, 2});
  CHECK(data.valid.labels[0] == 3);
  CHECK(data.train.pixels[250] == doctest::Approx(250.0 / 255));
  CHECK(data.valid.pixels[0] == doctest::Approx(3 * 784 % 251 / 255.0));
  CHECK(data.source == "MNIST files in " + folder.path() + ": 3 training, 5000 validation and 7 test cases");
}

TEST_CASE("mnist data: some of the training cases, others with another seed, and no other split") {
  const auto some = [](size_t count, std::uint64_t seed) {
    MnistData data = synthetic_mnist(1, 50, 4, 4);
    train_on_some(data, count, seed);
    return data;
  };
  const MnistData all = synthetic_mnist(1, 50, 4, 4), data = some(20, 3);
  check_split(data.train, 20);
  CHECK(data.valid.pixels == all.valid.pixels);
  CHECK(data.test.labels == all.test.labels);
  CHECK(data.source == all.source + "; trained on 20 of the training cases (seed 3)");
  CHECK(some(20, 3).train.pixels == data.train.pixels);
  CHECK(some(20, 4).train.pixels != data.train.pixels);

  std::vector<size_t> found;  // each case of the 20 among all, which differ from each other
  for (size_t i = 0; i < data.train.count(); ++i) {
    const auto image = std::span(data.train.pixels).subspan(i * digit_pixels, digit_pixels);
    for (size_t k = 0; k < all.train.count(); ++k)
      if (std::ranges::equal(image, std::span(all.train.pixels).subspan(k * digit_pixels, digit_pixels))) {
        CHECK(data.train.labels[i] == all.train.labels[k]);
        found.push_back(k);
      }
  }
  CHECK(found.size() == 20);
  std::ranges::sort(found);
  CHECK(std::ranges::adjacent_find(found) == found.end());

  CHECK(message_of<UsageError>([&] { some(51, 1); }) ==
        "--train-on 51: there are 50 training cases; choose 1 to 50");
  CHECK_THROWS_AS(some(0, 1), UsageError);
}

TEST_CASE("mnist data: what is missing is named in both spellings, with the remedy") {
  const TemporaryFolder folder;
  const std::string none = complaint(folder / "none");
  CHECK(none.starts_with(folder / "none" + ": is not a folder; download MNIST's four files"));
  CHECK(none.ends_with("or leave --data out for the built-in digits"));
  write_files(folder);
  for (const std::string name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                 "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}) {
    const bool packed = std::filesystem::exists(folder / name + ".gz");
    const std::string file = folder / name + (packed ? ".gz" : "");
    std::filesystem::rename(file, folder / "hidden");
    const std::string message = complaint(folder.path());
    CHECK(
        message.starts_with(folder / name + ": not found, nor " + name + ".gz; download MNIST's four files"));
    CHECK(message.find('\n') == std::string::npos);
    std::filesystem::rename(folder / "hidden", file);
  }
}

TEST_CASE("mnist data: files that do not belong together are refused") {
  const TemporaryFolder folder;
  write_files(folder);
  const std::string images = folder / "t10k-images-idx3-ubyte", labels = folder / "t10k-labels-idx1-ubyte.gz";
  write_file(labels, idx_labels(test_count + 1));
  CHECK(
      complaint(folder.path()).starts_with(images + ": holds 7 images, but " + labels + " holds 8 labels; "));
  write_file(images, idx_images(test_count, 32, 30));
  CHECK(complaint(folder.path()).starts_with(images + ": its images are 32 x 30 pixels, not 28 x 28; "));
  write_file(folder / "train-images-idx3-ubyte.gz", idx_images(10, 28, 28));
  write_file(folder / "train-labels-idx1-ubyte", idx_labels(10));
  CHECK(complaint(folder.path()).find("none is left for training") != std::string::npos);
}

TEST_CASE("mnist data: built-in digits say what they are, and their splits are separate") {
  const MnistData data = synthetic_mnist(9, 50, 20, 30);
  check_split(data.train, 50);
  check_split(data.valid, 20);
  check_split(data.test, 30);
  CHECK(data.source ==
        "built-in synthetic digits, not MNIST (seed 9): 50 training, 20 validation and 30 test cases");
  CHECK_FALSE(std::equal(data.valid.pixels.begin(), data.valid.pixels.end(), data.train.pixels.begin()));
  const MnistData larger = synthetic_mnist(9, 60, 20, 30);
  CHECK(larger.test.pixels == data.test.pixels);
  CHECK(std::equal(data.train.pixels.begin(), data.train.pixels.end(), larger.train.pixels.begin()));
}

TEST_CASE("mnist data: the real files" * doctest::skip(data_folder("mnist").empty())) {
  const MnistData data = load_mnist(data_folder("mnist"));
  check_split(data.train, 55000);
  check_split(data.valid, 5000);
  check_split(data.test, 10000);
  CHECK(std::vector<int>(data.train.labels.begin(), data.train.labels.begin() + 5) ==
        std::vector<int>{5, 0, 4, 1, 9});
  CHECK(std::vector<int>(data.test.labels.begin(), data.test.labels.begin() + 5) ==
        std::vector<int>{7, 2, 1, 0, 4});
  const double sum = std::accumulate(data.train.pixels.begin(), data.train.pixels.end(), 0.0);
  CHECK(sum / static_cast<double>(data.train.pixels.size()) == doctest::Approx(0.1307).epsilon(0.01));
}
