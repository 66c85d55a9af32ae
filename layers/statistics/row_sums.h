#pragma once
// Gradients of gains and biases: sums over all rows of all steps. One running sum would round once per row.
//
// 64 rows are accumulated in sequence. Their sum is added to that of the 64 rows before, the result to that
// of the 128 before both, and so on as in a binary counter, so that every number goes through
// log2(rows / 64) further additions. With a single level all rows are accumulated in sequence.

#include <algorithm>
#include <bit>
#include <cstddef>

#include "core/real.h"

namespace lamina {

/// The sums of one thread. All levels together are the sum, in the caller's memory, which must start as
/// zeros.
class RowSums {
 public:
  /// How many levels, each of `width` numbers, this many rows need.
  static size_t levels(size_t rows) { return 1 + static_cast<size_t>(std::bit_width(rows / in_sequence)); }

  RowSums(real* memory, size_t width, size_t levels) : memory_(memory), width_(width), levels_(levels) {}

  /// [width]: where the current row is added.
  real* running() const { return memory_; }

  void end_row() {
    if (levels_ == 1 || ++rows_ < in_sequence) return;
    rows_ = 0;
    add_up(0);
    for (size_t level = 1, before = blocks_++; before % 2 == 1; ++level, before /= 2) add_up(level);
  }

 private:
  static constexpr size_t in_sequence = 64;

  /// Adds a level to the next and leaves zeros.
  void add_up(size_t level) {
    real *const from = memory_ + level * width_, *const to = from + width_;
#pragma omp simd
    for (size_t i = 0; i < width_; ++i) to[i] += from[i];
    std::fill_n(from, width_, real{0});
  }

  real* memory_;
  size_t width_, levels_, rows_ = 0, blocks_ = 0;
};

}  // namespace lamina
