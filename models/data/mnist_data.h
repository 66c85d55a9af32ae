#pragma once
// Training, validation and test cases for the digit experiments: MNIST itself, or the built-in digits
// instead.

#include <cstdint>
#include <string>
#include <vector>

#include "core/real.h"

namespace lamina {

struct DigitSplit {
  std::vector<real> pixels;  ///< [count x 784] in [0, 1]
  std::vector<int> labels;   ///< [count], 0 to 9
  size_t count() const { return labels.size(); }
};

struct MnistData {
  DigitSplit train, valid, test;
  std::string source;  ///< one line for the log: what the data are, and whether they are real
};

/// Reads MNIST from the folder that holds its four original files, compressed or not: 55,000 training cases,
/// 5,000 validation cases (the last ones of the training file) and 10,000 test cases. Other data sets with
/// the same four files and image size work too. Throws DataError, naming the file and the remedy, when the
/// folder or a file is missing or broken, when images and labels do not match, or when the images are not 28
/// x 28.
MnistData load_mnist(const std::string& folder);

/// Leaves `count` of the training cases, drawn by the seed, and says so in the source. UsageError when there are fewer
/// or none is asked for.
void train_on_some(MnistData& data, size_t count, std::uint64_t seed);

/// Built-in digits (digits.h) in the given numbers. The three splits are separate parts of the sequence
/// `seed`: none shares an image with another, and changing the size of one changes nothing in the others.
MnistData synthetic_mnist(std::uint64_t seed, size_t train = 55000, size_t valid = 5000, size_t test = 10000);

}  // namespace lamina
