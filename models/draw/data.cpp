#include "models/draw/data.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/error.h"
#include "core/files/folder.h"
#include "core/math/random.h"
#include "core/threads/parallel.h"
#include "models/draw/amat.h"

namespace lamina::draw {

namespace {

constexpr size_t image_pixels = 784;
constexpr std::uint64_t binarization_seed = 2011;

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
