#pragma once
// Where the numbers are that a convolution multiplies: images in frames of zeros, the windows over them and
// the taps of a window, as offsets for core/gemm/gathered_tile.h.

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/memory/cached_vector.h"
#include "core/real.h"

namespace lamina {

/// A frame of zeros around an image: pixel (i, j) of the image is at (top + i spacing, left + j spacing) of
/// the frame; what falls outside is left out.
struct Frame {
  size_t height, width, channels;  // of the frame
  size_t image_height, image_width;
  std::ptrdiff_t top, left;
  size_t spacing;

  size_t size() const { return height * width * channels; }

  /// Whether row `row` of the frame can hold anything but zeros.
  bool meets_image(size_t row) const {
    const auto i = static_cast<std::ptrdiff_t>(row) - top;
    return i >= 0 && i <= static_cast<std::ptrdiff_t>((image_height - 1) * spacing);
  }

  void put(const real* image, real* frame) const {
    for (size_t i = 0; i < image_height; ++i) {
      const std::ptrdiff_t row = top + static_cast<std::ptrdiff_t>(i * spacing);
      if (row < 0 || row >= static_cast<std::ptrdiff_t>(height)) continue;
      real* const to = frame + static_cast<size_t>(row) * width * channels;
      const real* const from = image + i * image_width * channels;
      if (spacing == 1 && left >= 0 && static_cast<size_t>(left) + image_width <= width) {
        std::copy_n(from, image_width * channels, to + static_cast<size_t>(left) * channels);
        continue;
      }
      for (size_t j = 0; j < image_width; ++j) {
        const std::ptrdiff_t column = left + static_cast<std::ptrdiff_t>(j * spacing);
        if (column < 0 || column >= static_cast<std::ptrdiff_t>(width)) continue;
        std::copy_n(from + j * channels, channels, to + static_cast<size_t>(column) * channels);
      }
    }
  }
};

using Offsets = CachedVector<size_t>;

/// Where each window begins in a frame `stride` apart, row by row.
inline Offsets window_offsets(const Frame& frame, size_t rows, size_t columns, size_t stride) {
  Offsets offsets;
  offsets.reserve(rows * columns);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      offsets.push_back((i * stride * frame.width + j * stride) * frame.channels);
  return offsets;
}

/// Where each tap (row, column, channel) is in a window.
inline Offsets tap_offsets(const Frame& frame, size_t rows, size_t columns) {
  Offsets offsets;
  offsets.reserve(rows * columns * frame.channels);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns * frame.channels; ++j)
      offsets.push_back(i * frame.width * frame.channels + j);
  return offsets;
}

/// The windows of a convolution over frames, and their taps.
struct Patches {
  Frame frame;
  size_t rows, columns, stride;  // of windows
  size_t tap_rows, tap_columns;
  Offsets windows, taps;

  size_t taps_in_a_row() const { return tap_columns * frame.channels; }

  /// The rows of taps that meet the image from windows of row i: [first, second).
  std::pair<size_t, size_t> useful_taps(size_t i) const {
    size_t first = 0, last = tap_rows;
    while (first < last && !frame.meets_image(i * stride + first)) ++first;
    while (first < last && !frame.meets_image(i * stride + last - 1)) --last;
    return {first, last};
  }
  /// The rows of windows within [begin, end) from which tap row u meets the image.
  std::pair<size_t, size_t> useful_windows(size_t u, size_t begin, size_t end) const {
    while (begin < end && !frame.meets_image(begin * stride + u)) ++begin;
    while (begin < end && !frame.meets_image((end - 1) * stride + u)) --end;
    return {begin, end};
  }
};

inline Patches make_patches(const Frame& frame, size_t rows, size_t columns, size_t stride, size_t tap_rows,
                            size_t tap_columns) {
  return {.frame = frame,
          .rows = rows,
          .columns = columns,
          .stride = stride,
          .tap_rows = tap_rows,
          .tap_columns = tap_columns,
          .windows = window_offsets(frame, rows, columns, stride),
          .taps = tap_offsets(frame, tap_rows, tap_columns)};
}

}  // namespace lamina
