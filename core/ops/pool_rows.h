#pragma once
// Relu and non-overlapping max pooling on a band of `window` image rows while it is in cache, for every op
// that ends with them. A row is [W x C]; pooled rows are [W / window x C].

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/ops/pool2d.h"

namespace lamina::pool_rows {

/// Calls f with `window` as a compile-time number where that pays: its loops vanish and the channels become
/// vectors.
template <class Function>
void with_window(size_t window, const Function& f) {
  if (window == 2)
    f(std::integral_constant<size_t, 2>());
  else if (window == 3)
    f(std::integral_constant<size_t, 3>());
  else
    f(window);
}

/// What a maximum must exceed to count.
inline real floor_of(const ReluPool& options) {
  return options.relu ? 0 : -std::numeric_limits<real>::infinity();
}

/// As wide as a real, so that a vector holds as many of both.
using Place = std::conditional_t<sizeof(real) == 4, std::int32_t, std::int64_t>;

/// `chosen` if a is above `best` or NaN, else `otherwise`. Two choices with one comparison each: compilers
/// turn those into vector code, and stumble over a choice with two.
template <class Value>
Value choose(real a, real best, Value chosen, Value otherwise) {
  const Value larger = a > best ? chosen : otherwise;
  return a != a ? chosen : larger;
}

/// out_jc = max over the window of y, or of max(y, 0). `y` holds `window` rows.
inline void forward(const real* y, size_t width, size_t channels, const ReluPool& options, real* out) {
  if (options.window == 1) {
    const bool relu = options.relu;
#pragma omp simd
    for (size_t i = 0; i < width * channels; ++i) out[i] = relu && y[i] < 0 ? 0 : y[i];
    return;
  }
  with_window(options.window, [=, floor = floor_of(options)](const auto window) {
    for (size_t j = 0; j < width / window; ++j)
#pragma omp simd
      for (size_t c = 0; c < channels; ++c) {
        const real* const corner = y + j * window * channels + c;
        real best = floor;
        for (size_t u = 0; u < window; ++u)
          for (size_t v = 0; v < window; ++v) {
            const real candidate = corner[(u * width + v) * channels];
            best = choose(candidate, best, candidate, best);
          }
        out[j * channels + c] = best;
      }
  });
}

/// dy = d(out) where y was the maximum (and, under relu, above 0), zero elsewhere: writes `window` rows.
/// d(y) may not overlap y. Columns that no window covers get zeros.
inline void backward(const real* y, size_t width, size_t channels, const ReluPool& options, const real* dout,
                     real* dy) {
  if (options.window == 1) {
    const bool relu = options.relu;
#pragma omp simd
    for (size_t i = 0; i < width * channels; ++i) {
      const real derivative = dout[i];
      dy[i] = !relu || y[i] > 0 ? derivative : 0;
    }
    return;
  }
  with_window(options.window, [=, floor = floor_of(options)](const auto window) {
    const size_t covered = width / window * window;
    for (size_t u = 0; u < window; ++u)
      std::fill_n(dy + (u * width + covered) * channels, (width - covered) * channels, real{0});
    for (size_t j = 0; j < width / window; ++j)
#pragma omp simd
      for (size_t c = 0; c < channels; ++c) {
        const size_t corner = j * window * channels + c;
        const real derivative = dout[j * channels + c];
        real best = floor;
        Place winner = -1, place = 0;  // -1: none is above the floor
        for (size_t u = 0; u < window; ++u)
          for (size_t v = 0; v < window; ++v, ++place) {
            const real candidate = y[corner + (u * width + v) * channels];
            winner = choose(candidate, best, place, winner);
            best = choose(candidate, best, candidate, best);
          }
        place = 0;
        for (size_t u = 0; u < window; ++u)
          for (size_t v = 0; v < window; ++v, ++place)
            dy[corner + (u * width + v) * channels] = winner == place ? derivative : 0;
      }
  });
}

}  // namespace lamina::pool_rows
