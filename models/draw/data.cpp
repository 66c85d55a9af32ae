#include "models/draw/data.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/folder.h"
#include "core/math/random.h"
#include "core/threads/parallel.h"

namespace lamina::draw {

namespace {

constexpr size_t image_pixels = 784;
constexpr std::uint64_t binarization_seed = 2011;
constexpr std::string_view blanks = " \t\r";
constexpr size_t largest_file = size_t{1} << 30;
constexpr const char* remedy = "; download it again";

/// The text up to the next blank, shortened when it is long or not text at all.
std::string quoted(std::string_view rest) {
  std::string token(rest.substr(0, std::min(rest.find_first_of(blanks), size_t{20})));
  for (char& letter : token)
    if (letter < ' ' || letter > '~') letter = '?';
  return "'" + token + "'";
}

void read_line(std::string_view line, const std::string& path, size_t number, size_t columns,
               std::vector<std::uint8_t>& pixels) {
  size_t count = 0;
  for (size_t at = 0; at < line.size(); ++at) {
    if (blanks.find(line[at]) != std::string_view::npos) continue;
    const bool alone = at + 1 == line.size() || blanks.find(line[at + 1]) != std::string_view::npos;
    if (!alone || (line[at] != '0' && line[at] != '1'))
      fail<DataError>(path, ": line ", number, ": ", quoted(line.substr(at)), " where 0 or 1 is expected",
                      remedy);
    if (++count <= columns) pixels.push_back(line[at] == '1' ? 1 : 0);
  }
  if (count != columns)
    fail<DataError>(path, ": line ", number, ": has ", count, " columns, not ", columns, remedy);
}

std::string sizes(const DrawData& data) {
  return text(data.train.count(), " training, ", data.valid.count(), " validation and ", data.test.count(),
              " test images");
}

/// Binarizes all three parts, each with a separate stream.
DrawData all_binarized(const MnistData& grey) {
  return {.train = binarized(grey.train.pixels, 0),
          .valid = binarized(grey.valid.pixels, 1),
          .test = binarized(grey.test.pixels, 2),
          .source = {}};
}

constexpr std::array<const char*, 3> amat_parts{"train", "valid", "test"};

std::string amat_file(const std::string& folder, const char* part) {
  return (std::filesystem::path(folder) / text("binarized_mnist_", part, ".amat")).string();
}

DrawData read_amat_files(const std::string& folder) {
  const auto part = [&](const char* name) { return BinaryImages{read_amat(amat_file(folder, name))}; };
  return {
      .train = part(amat_parts[0]), .valid = part(amat_parts[1]), .test = part(amat_parts[2]), .source = {}};
}

}  // namespace

std::vector<std::uint8_t> read_amat(const std::string& path, size_t columns) {
  const std::string bytes = read_file(path, largest_file);
  std::string_view rest = bytes;
  while (!rest.empty() && (rest.back() == '\n' || rest.back() == '\r')) rest.remove_suffix(1);
  if (rest.empty()) fail<DataError>(path, ": line 1: the file is empty", remedy);
  std::vector<std::uint8_t> pixels;
  pixels.reserve(bytes.size() / 2 + 1);
  for (size_t number = 1;; ++number) {
    const size_t end = rest.find('\n');
    read_line(rest.substr(0, end), path, number, columns, pixels);
    if (end == std::string_view::npos) return pixels;
    rest.remove_prefix(end + 1);
  }
}

Tensor BinaryImages::batch(std::span<const int> chosen) const {
  Tensor images({chosen.size(), image_pixels});
  parallel_for(chosen.size(), grain_of(image_pixels), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      std::copy_n(pixels.data() + static_cast<size_t>(chosen[i]) * image_pixels, image_pixels,
                  images.data() + i * image_pixels);
  });
  return images;
}

BinaryImages binarized(const std::vector<real>& intensities, std::uint64_t stream) {
  BinaryImages images;
  images.pixels.resize(intensities.size());
  const Random sequence(binarization_seed, stream);
  parallel_for(intensities.size() / image_pixels, 16, [&](size_t begin, size_t end) {
    for (size_t image = begin; image < end; ++image) {
      Random random = sequence.split(image);
      for (size_t i = image * image_pixels; i < (image + 1) * image_pixels; ++i)
        images.pixels[i] = random.uniform() < intensities[i] ? 1 : 0;
    }
  });
  return images;
}

MnistData with_larger_validation(MnistData data) {
  std::vector<real>&train = data.train.pixels, &valid = data.valid.pixels;
  const size_t count = (train.size() + valid.size()) / image_pixels;
  const size_t keep = std::min((count - count / 6) * image_pixels, train.size());
  valid.insert(valid.begin(), train.begin() + static_cast<std::ptrdiff_t>(keep), train.end());
  train.resize(keep);
  return data;
}

DrawData load_binary_mnist(const std::string& folder) {
  DrawData data;
  if (std::ranges::any_of(amat_parts, [&](const char* part) { return exists(amat_file(folder, part)); })) {
    data = read_amat_files(folder);
    data.source = text("binarized MNIST (.amat) in ", folder, ": ", sizes(data));
  } else {
    data = all_binarized(with_larger_validation(load_mnist(folder)));
    data.source = text("MNIST files in ", folder, ", binarized here once and for all (seed ",
                       binarization_seed, "), not the fixed binarization of the paper: ", sizes(data));
  }
  return data;
}

DrawData synthetic_binary_digits(std::uint64_t seed, size_t train, size_t valid, size_t test) {
  DrawData data = all_binarized(synthetic_mnist(seed, train, valid, test));
  data.source = text("built-in synthetic digits, binarized, not MNIST (seed ", seed, "): ", sizes(data));
  return data;
}

}  // namespace lamina::draw
