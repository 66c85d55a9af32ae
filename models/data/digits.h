#pragma once
// Built-in digits: handwriting-like images drawn by a synthetic pen, for use without MNIST.
//
// A digit is one of a few written variants (digit_strokes.h). Its control points are shaken, joined by smooth
// curves, bent by a few slow waves, slanted, scaled and turned, and stroked by a pen of random width on noisy
// paper. Every label is correct: the task is hard only because of how the digits are written.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lamina {

inline constexpr std::size_t digit_side = 28;
inline constexpr std::size_t digit_pixels = digit_side * digit_side;

struct Digits {
  std::vector<float> pixels;  ///< [count x 784] in [0, 1], row by row, 0 = paper, 1 = ink
  std::vector<int> labels;    ///< [count], 0 to 9
};

/// Draws the images first_index, ..., first_index + count - 1 of the endless sequence `seed`. Each depends on
/// the seed and its index alone, so any part of the sequence can be drawn, by any number of threads. Classes
/// are drawn at random and equally likely.
Digits draw_digits(std::size_t count, std::uint64_t seed, std::uint64_t first_index = 0);

}  // namespace lamina
