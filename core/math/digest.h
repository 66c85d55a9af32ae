#pragma once
// A number that stands for many bytes: equal for equal ones, and different for others of as many bytes but for one case
// in 2^64 or so. Not against somebody who looks for such a case.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace lamina {

/// FNV-1a over words of 8 bytes, each folded, so that differences in its high bits reach the low ones. `before`: the digest
/// of what precedes, of which all but the last part have a multiple of 8 bytes.
inline std::uint64_t digest_of(std::span<const std::byte> bytes,
                               std::uint64_t before = 14695981039346656037U) {
  std::uint64_t digest = before;
  const auto add = [&digest](const std::byte* word, std::size_t size) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, word, size);
    digest = (digest ^ bits) * 1099511628211U;
    digest ^= digest >> 32;
  };
  const std::size_t whole = bytes.size() / 8 * 8;
  for (std::size_t at = 0; at < whole; at += 8) add(bytes.data() + at, 8);
  if (whole < bytes.size()) add(bytes.data() + whole, bytes.size() - whole);
  return digest;
}

}  // namespace lamina
