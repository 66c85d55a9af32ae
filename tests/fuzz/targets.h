#pragma once
// The fuzz targets: every function that parses bytes from outside. A target may throw nothing but DataError,
// the readers' error; must not take more than a second or 200 MB beyond the size of its input, and must not
// access memory out of bounds.

#include <span>
#include <string_view>

namespace lamina::fuzz {

struct Target {
  const char* name;
  void (*read)(std::string_view bytes);
  unsigned longest;  ///< bytes of an input
};

/// All of them.
std::span<const Target> targets();

/// Runs a target and ignores a DataError.
void run(const Target& target, std::string_view bytes);

}  // namespace lamina::fuzz
