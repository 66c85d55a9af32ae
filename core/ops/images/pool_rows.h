#pragma once
// Relu and non-overlapping max pooling on a band of `window` image rows while it is in cache, for every op
// that ends with them. A row is [W x C]; pooled rows are [W / window x C].

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/ops/images/pool2d.h"
#include "core/simd.h"

namespace lamina::pool_rows {

/// Calls f with `window` as a compile-time constant where that pays: loops over it are unrolled and those
/// over channels vectorized.
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

// The loops over channels take one vector at a time, and single channels at the end. The same code serves
// both, because ?: selects element by element when it is given vectors. (Compilers do not vectorize these
// selections by themselves.)

using simd::lanes;
using simd::vec;

/// Which place of the window holds the maximum; as wide as a real, so that a vector has as many of both.
using Place = std::conditional_t<sizeof(real) == 4, std::int32_t, std::int64_t>;
using PlaceVec = Place __attribute__((vector_size(simd::vector_bytes)));

template <class Value>
Value load(const real* p) {
  Value x;
  std::memcpy(&x, p, sizeof x);
  return x;
}
template <class Value>
void store(real* p, Value x) {
  std::memcpy(p, &x, sizeof x);
}

/// Calls body.template operator()<Value, Place>(c) for channels [c, c + 1) or [c, c + lanes).
template <class Body>
void for_each_channel(size_t channels, const Body& body) {
  size_t c = 0;
  for (; c + lanes <= channels; c += lanes) body.template operator()<vec, PlaceVec>(c);
  for (; c < channels; ++c) body.template operator()<real, Place>(c);
}

/// `chosen` where x is above `best` or NaN, else `otherwise`.
template <class Value, class Chosen>
Chosen choose(Value x, Value best, Chosen chosen, Chosen otherwise) {
  const Chosen larger = x > best ? chosen : otherwise;
  return x != x ? chosen : larger;
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
      for_each_channel(channels, [=]<class Value, class>(size_t c) {
        Value best = floor - Value{};
        for (size_t u = 0; u < window; ++u)
          for (size_t v = 0; v < window; ++v) {
            const Value x = load<Value>(y + (u * width + j * window + v) * channels + c);
            best = choose(x, best, x, best);
          }
        store(out + j * channels + c, best);
      });
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
      for_each_channel(channels, [=]<class Value, class Places>(size_t c) {
        const auto at = [=](size_t u, size_t v) { return (u * width + j * window + v) * channels + c; };
        Value best = floor - Value{};
        // Under relu a window may have no winner; without it, the first element wins in a window of only
        // -infinity.
        Places winner = Places{} - static_cast<Place>(options.relu ? 1 : 0);
        for (size_t u = 0; u < window; ++u)
          for (size_t v = 0; v < window; ++v) {
            const Value x = load<Value>(y + at(u, v));
            winner = choose(x, best, Places{} + static_cast<Place>(u * window + v), winner);
            best = choose(x, best, x, best);
          }
        const Value derivative = load<Value>(dout + j * channels + c);
        for (size_t u = 0; u < window; ++u)
          for (size_t v = 0; v < window; ++v) {
            const Places place = Places{} + static_cast<Place>(u * window + v);
            store<Value>(dy + at(u, v), winner == place ? derivative : Value{});
          }
      });
  });
}

}  // namespace lamina::pool_rows
