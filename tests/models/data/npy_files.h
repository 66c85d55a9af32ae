#pragma once
// .npy files as numpy.save writes them.

#include <cstring>
#include <string>
#include <vector>

namespace lamina {

/// A file with this header, padded to a multiple of 64 bytes when it ends like those of numpy.save, followed
/// by this content.
inline std::string npy_file(std::string header, const std::string& content, int version) {
  const size_t before = version == 1 ? 10 : 12;
  if (header.ends_with(", }")) {
    while ((before + header.size() + 1) % 64 != 0) header += ' ';
    header += '\n';
  }
  std::string file = std::string("\x93NUMPY") + static_cast<char>(version) + '\0';
  for (size_t i = 0; i < before - 8; ++i) file += static_cast<char>(header.size() >> 8 * i & 0xFF);
  return file + header + content;
}

/// A matrix in C order.
inline std::string npy_matrix(size_t rows, size_t columns, const std::vector<double>& numbers, bool doubles,
                              int version) {
  std::string content;
  for (const double number : numbers) {
    const auto single = static_cast<float>(number);
    char bytes[8];
    std::memcpy(bytes, doubles ? static_cast<const void*>(&number) : &single, doubles ? 8 : 4);
    content.append(bytes, doubles ? 8 : 4);
  }
  return npy_file("{'descr': '" + std::string(doubles ? "<f8" : "<f4") +
                      "', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
                      std::to_string(columns) + "), }",
                  content, version);
}

}  // namespace lamina
