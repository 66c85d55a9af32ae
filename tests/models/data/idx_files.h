#pragma once
// Makes small IDX files for tests.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace lamina {

/// A header: the magic number and the sizes, most significant byte first.
inline std::string idx_header(std::initializer_list<std::uint32_t> numbers) {
  std::string bytes;
  for (std::uint32_t number : numbers) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(number >> shift & 0xff));
  }
  return bytes;
}

/// An image file whose pixel number i is i mod 251.
inline std::string idx_images(std::uint32_t count, std::uint32_t rows, std::uint32_t columns) {
  std::string bytes = idx_header({0x803, count, rows, columns});
  for (std::size_t i = 0; i < std::size_t{count} * rows * columns; ++i)
    bytes.push_back(static_cast<char>(i % 251));
  return bytes;
}

/// A label file whose label number i is i mod 10.
inline std::string idx_labels(std::uint32_t count) {
  std::string bytes = idx_header({0x801, count});
  for (std::uint32_t i = 0; i < count; ++i) bytes.push_back(static_cast<char>(i % 10));
  return bytes;
}

/// The bytes as a gzip file.
std::string gzipped(const std::string& bytes);

}  // namespace lamina
