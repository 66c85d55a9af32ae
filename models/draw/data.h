#pragma once
// Binary images for DRAW: 50,000 for training, 10,000 for validation, 10,000 for test.

#include <cstdint>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "models/data/mnist_data.h"

namespace lamina::draw {

struct BinaryImages {
  std::vector<std::uint8_t> pixels;  ///< [count x 784], 0 or 1
  size_t count() const { return pixels.size() / 784; }
  /// The images of these numbers [n x 784].
  Tensor batch(std::span<const int> chosen) const;
};

/// The pixels [lines x columns] of a file in the text format of the binarized MNIST of Larochelle and Murray (2011): one image
/// per line, its pixels as 0 or 1 separated by spaces. DataError that names the file, the line and the remedy when it is
/// missing or empty, when a line has another number of columns, or when something in it is not 0 or 1.
std::vector<std::uint8_t> read_amat(const std::string& path, size_t columns = 784);

struct DrawData {
  BinaryImages train, valid, test;
  std::string source;  ///< one line for the log: what the data are, and whether they are real
};

/// From a folder with the fixed binarization (binarized_mnist_train.amat, _valid.amat, _test.amat), or, where it has none of
/// these, with MNIST's four original files, which are then binarized as below; the last sixth of the training file,
/// 10,000 images, is for validation. DataError, naming the file and the remedy, when files are missing or
/// broken.
DrawData load_binary_mnist(const std::string& folder);

/// MNIST's images with at least a sixth of the training file for validation: the last of those that load_mnist(), which sets
/// 5,000 aside as the other experiments do, leaves for training. Labels, which DRAW does not use, stay where they are.
MnistData with_larger_validation(MnistData data);

/// Built-in digits (models/data/digits.h) in the given numbers, binarized as below.
DrawData synthetic_binary_digits(std::uint64_t seed, size_t train = 50000, size_t valid = 10000,
                                 size_t test = 10000);

/// Each pixel becomes 1 with a probability equal to its intensity, drawn only once: the draw depends only on
/// the image's number in `stream`, so every run sees the same images.
BinaryImages binarized(const std::vector<real>& intensities, std::uint64_t stream);

}  // namespace lamina::draw
