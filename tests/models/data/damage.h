#pragma once
// Randomly damaged files for readers, written fast.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/math/random.h"

namespace lamina {

/// Not write_file, whose fsync would dominate thousands of mutations; nor an overwrite of the old file, at
/// which some file systems sync as well.
inline void put(const std::string& path, const std::string& bytes) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// A few random small damages: flipped bits, a byte anywhere or among the first `header`, a cut, an
/// extension.
inline std::string mutated(std::string bytes, size_t header, Random& random) {
  for (std::uint32_t damage = 0, count = 1 + random.below(3); damage < count && !bytes.empty(); ++damage) {
    const size_t position = random.below(static_cast<std::uint32_t>(bytes.size()));
    const auto byte = static_cast<char>(random.bits());
    switch (random.below(5)) {
      case 0:
        bytes[position] = byte;
        break;
      case 1:
        bytes[position] ^= static_cast<char>(1 << random.below(8));
        break;
      case 2:
        bytes[position % std::min(bytes.size(), header)] = byte;
        break;
      case 3:
        bytes.resize(position);
        break;
      default:
        bytes.append(1 + random.below(20), byte);
    }
  }
  return bytes;
}

}  // namespace lamina
