#pragma once
// What is fuzzed: every function that makes sense of bytes which somebody else wrote. A target may throw
// nothing but DataError, the readers' own complaint; must not take more than a second or 200 MB beyond the
// size of its input, and must not touch memory that is not its own.

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

/// Calls `read` and forgives it a DataError.
void run(const Target& target, std::string_view bytes);

}  // namespace lamina::fuzz
