#pragma once
// The text format of the binarized MNIST of Larochelle and Murray (2011): one image per line, its pixels as 0
// or 1 separated by spaces.

#include <cstdint>
#include <string>
#include <vector>

namespace lamina::draw {

/// The pixels [lines x columns] of such a file. DataError that names the file, the line and the remedy when
/// it is missing or empty, when a line has another number of columns, or when something in it is not 0 or 1.
std::vector<std::uint8_t> read_amat(const std::string& path, size_t columns = 784);

}  // namespace lamina::draw
