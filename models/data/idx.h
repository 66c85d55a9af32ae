#pragma once
// The IDX format, in which MNIST and its relatives are distributed.
//
//   images   00 00 08 03 | count | rows | columns | count * rows * columns bytes, 0 = background, 255 = ink
//   labels   00 00 08 01 | count | count bytes
//
// The numbers are 32 bits, most significant byte first; 08 means unsigned bytes and 03 or 01 counts the
// dimensions. The files come compressed by gzip or not; the content decides, not the name.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lamina {

struct IdxImages {
  std::size_t count = 0, rows = 0, columns = 0;
  std::vector<std::uint8_t> pixels;  ///< [count x rows x columns]
};

/// Reads an image file. Throws DataError, which names the file and the remedy, when it is missing, damaged,
/// cut off, too long, of another kind, or holds no pixel. Memory grows with the bytes that arrive, at most to
/// what the header promises and never beyond 1 GiB, nor beyond 64 MiB when it is more than 64 times the file.
IdxImages read_idx_images(const std::string& path);

/// Reads a label file: numbers from 0 to `classes` - 1. Errors as above, at most 2^24 labels; a label out of range is
/// an error that names its position.
std::vector<int> read_idx_labels(const std::string& path, int classes = 10);

}  // namespace lamina
