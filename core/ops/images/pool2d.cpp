#include "core/ops/images/pool2d.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/memory/workspace.h"
#include "core/ops.h"
#include "core/ops/images/pool_rows.h"
#include "core/ops/map.h"

namespace lamina {

namespace {

struct WindowSizes {
  size_t images, height, width, channels, window, stride, out_height, out_width;
  Shape out() const { return {images, out_height, out_width, channels}; }
  /// Elements of x in one image, and of y.
  size_t area() const { return height * width * channels; }
  size_t out_area() const { return out_height * out_width * channels; }
};

WindowSizes sizes_of(const char* op, const Tensor& x, const Pool2dOptions& options) {
  const Shape& s = x.shape();
  if (s.rank() != 4) fail(op, ": images [N x height x width x channels] are needed, this is ", s);
  const size_t window = options.window, stride = options.stride == 0 ? window : options.stride;
  if (window == 0 || window > s[1] || window > s[2])
    fail(op, ": the window ", window, " x ", window, " does not fit into images ", s,
         "; it must be at least 1 and at most ", std::min(s[1], s[2]));
  return {s[0], s[1], s[2], s[3], window, stride, (s[1] - window) / stride + 1, (s[2] - window) / stride + 1};
}

template <class Body>
void for_each_image(const WindowSizes& s, const Body& body) {
  parallel_for(s.images, grain_of(s.area(), elementwise_grain / 4), [&](size_t begin, size_t end) {
    for (size_t n = begin; n < end; ++n) body(n);
  });
}

/// Calls body(y, x) for every window of an image: y the first channel of the output, x of the window's
/// corner.
template <class Body>
void for_each_window(const WindowSizes& s, const Body& body) {
  for (size_t i = 0; i < s.out_height; ++i)
    for (size_t j = 0; j < s.out_width; ++j)
      body((i * s.out_width + j) * s.channels, (i * s.width + j) * s.stride * s.channels);
}

/// The same for every place of a window: body(x) with its first channel.
template <class Body>
void for_each_place(const WindowSizes& s, size_t corner, const Body& body) {
  for (size_t u = 0; u < s.window; ++u)
    for (size_t v = 0; v < s.window; ++v) body(corner + (u * s.width + v) * s.channels);
}

}  // namespace

Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options) {
  const WindowSizes s = sizes_of("max_pool2d", x, options);
  if (s.stride == s.window && s.window > 1) return relu_pool(x, {.relu = false, .window = s.window});
  Tensor y(s.out());
  const auto forward = [=](const real* in, real* out) {
    for_each_window(s, [=](size_t to, size_t corner) {
      std::copy_n(in + corner, s.channels, out + to);
      for_each_place(s, corner, [=](size_t from) {
#pragma omp simd
        for (size_t c = 0; c < s.channels; ++c)
          out[to + c] = pool_rows::choose(in[from + c], out[to + c], in[from + c], out[to + c]);
      });
    });
  };
  for_each_image(s, [=, in = x.data(), out = y.data()](size_t n) {
    forward(in + n * s.area(), out + n * s.out_area());
  });

  return record("max_pool2d", y, {x}, [=] {
    const GradientSink sink = x.gradient_sink();
    for_each_image(s, [=, in = x.data(), out = y.data(), dy = y.gradient_data()](size_t n) {
      const size_t first = n * s.area(), first_out = n * s.out_area();
      if (!sink.add) std::fill_n(sink.values + first, s.area(), real{0});
      for_each_window(s, [=](size_t to, size_t corner) {
        for (size_t c = 0; c < s.channels; ++c) {
          size_t winner = s.area();
          for_each_place(s, corner, [&, best = out[first_out + to + c]](size_t from) {
            const real value = in[first + from + c];
            if ((value == best && winner == s.area()) || std::isnan(value)) winner = from;
          });
          sink.values[first + winner + c] += dy[first_out + to + c];
        }
      });
    });
  });
}

namespace {
struct RowOfWindow;
}

/// dx at a place = the sum of dy / window^2 over the windows that cover it. Each row of a window is summed apart: one running
/// sum over a large window would round too often.
Tensor average_pool2d(const Tensor& x, const Pool2dOptions& options) {
  const WindowSizes s = sizes_of("average_pool2d", x, options);
  const auto count = static_cast<real>(s.window * s.window);
  Tensor y(s.out());
  for_each_image(s, [=, x_all = x.data(), y_all = y.data()](size_t n) {
    const real* const in = x_all + n * s.area();
    real* const out = y_all + n * s.out_area();
    real* const row = scratch<RowOfWindow>(s.channels);
    std::fill_n(out, s.out_area(), real{0});
    for_each_window(s, [=](size_t to, size_t corner) {
      for (size_t u = 0; u < s.window; ++u) {
        std::fill_n(row, s.channels, real{0});
        for (size_t v = 0; v < s.window; ++v) {
          const size_t from = corner + (u * s.width + v) * s.channels;
#pragma omp simd
          for (size_t c = 0; c < s.channels; ++c) row[c] += in[from + c];
        }
#pragma omp simd
        for (size_t c = 0; c < s.channels; ++c) out[to + c] += row[c];
      }
#pragma omp simd
      for (size_t c = 0; c < s.channels; ++c) out[to + c] /= count;
    });
  });

  return record("average_pool2d", y, {x}, [=] {
    const GradientSink sink = x.gradient_sink();
    for_each_image(s, [=, dy_all = y.gradient_data()](size_t n) {
      real* const dx = sink.values + n * s.area();
      const real* const dy = dy_all + n * s.out_area();
      if (!sink.add) std::fill_n(dx, s.area(), real{0});
      for_each_window(s, [=](size_t to, size_t corner) {
        for_each_place(s, corner, [=](size_t from) {
#pragma omp simd
          for (size_t c = 0; c < s.channels; ++c) dx[from + c] += dy[to + c] / count;
        });
      });
    });
  });
}

Tensor relu_pool(const Tensor& x, const ReluPool& options) {
  if (options.window == 1) return options.relu ? relu(x) : x;
  const WindowSizes s = sizes_of("relu_pool", x, {.window = options.window});
  Tensor y(s.out());
  const size_t band = s.window * s.width * s.channels, row = s.out_width * s.channels;
  for_each_image(s, [=, in = x.data(), out = y.data()](size_t n) {
    for (size_t i = 0; i < s.out_height; ++i)
      pool_rows::forward(in + n * s.area() + i * band, s.width, s.channels, options,
                         out + n * s.out_area() + i * row);
  });

  return record({options.relu ? "relu_pool" : "max_pool2d", options.kind()}, y, {x}, [=] {
    const GradientSink sink = x.gradient_sink();
    // A second contribution is computed separately and added to the first.
    Tensor apart = sink.add ? Tensor(x.shape()) : Tensor();
    real* const dx = sink.add ? apart.data() : sink.values;
    for_each_image(s, [=, in = x.data(), dy = y.gradient_data()](size_t n) {
      for (size_t i = 0; i < s.out_height; ++i)
        pool_rows::backward(in + n * s.area() + i * band, s.width, s.channels, options,
                            dy + n * s.out_area() + i * row, dx + n * s.area() + i * band);
      const size_t covered = s.out_height * band;
      std::fill_n(dx + n * s.area() + covered, s.area() - covered, real{0});
    });
    if (sink.add) for_each_index(x.size(), [=, to = sink.values](size_t i) { to[i] += dx[i]; });
  });
}

namespace composed {

namespace {

/// Place number k of every window, as images [N x H' x W' x C].
Tensor place_of_windows(const Tensor& x, const WindowSizes& s, size_t k) {
  std::vector<int> pixels;
  for (size_t n = 0; n < s.images; ++n)
    for (size_t i = 0; i < s.out_height; ++i)
      for (size_t j = 0; j < s.out_width; ++j) {
        const size_t row = i * s.stride + k / s.window, column = j * s.stride + k % s.window;
        pixels.push_back(static_cast<int>((n * s.height + row) * s.width + column));
      }
  return gather(x.reshape({s.images * s.height * s.width, s.channels}), pixels).reshape(s.out());
}

}  // namespace

/// Gathers the first largest number of every window, or a NaN: no arithmetic that could round a tie away.
Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options) {
  const WindowSizes s = sizes_of("max_pool2d", x, options);
  std::vector<int> winners;
  for (size_t n = 0; n < s.images; ++n)
    for_each_window(s, [&](size_t, size_t corner) {
      for (size_t c = 0; c < s.channels; ++c) {
        size_t winner = n * s.area() + corner + c;
        for_each_place(s, n * s.area() + corner + c, [&](size_t at) {
          if (x[at] > x[winner] || std::isnan(x[at])) winner = at;
        });
        winners.push_back(static_cast<int>(winner));
      }
    });
  return gather(x.reshape({x.size(), 1}), winners).reshape(s.out());
}

Tensor average_pool2d(const Tensor& x, const Pool2dOptions& options) {
  const WindowSizes s = sizes_of("average_pool2d", x, options);
  Tensor sum = place_of_windows(x, s, 0);
  for (size_t k = 1; k < s.window * s.window; ++k) sum = sum + place_of_windows(x, s, k);
  return sum / static_cast<real>(s.window * s.window);
}

Tensor relu_pool(const Tensor& x, const ReluPool& options) {
  const Tensor h = options.relu ? relu(x) : x;
  return options.window == 1 ? h : composed::max_pool2d(h, {.window = options.window});
}

}  // namespace composed

}  // namespace lamina
