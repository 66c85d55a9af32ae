#pragma once
// Classifiers of digits by hand: the dense layer, the convolution as a product of patches, max pooling, cross entropy; and the two
// models, layer by layer forward, and back.
// Rows of images are [height x width x channels].

#include <algorithm>

#include "tools/peers/by_hand/arrays.h"

namespace by_hand {

/// y = relu(x W + b), or without relu; x [rows x inputs]
struct Dense {
  Parameters& parameters;
  size_t rows, inputs, outputs;
  bool rectified = true;
  size_t weight = parameters.add(inputs * outputs, 1 / std::sqrt(static_cast<float>(inputs)));
  size_t bias = parameters.add(outputs, 0);
  Numbers y = Numbers(rows * outputs), dy = Numbers(rows * outputs);

  const Numbers& forward(const float* x) {
    const float* b = &parameters.value[bias];
    for (size_t row = 0; row < rows; ++row) std::copy_n(b, outputs, &y[row * outputs]);
    product(rows, outputs, inputs, x, &parameters.value[weight], 1, y.data());
    if (rectified)
      for (float& value : y) value = std::max(value, 0.0F);
    return y;
  }

  /// From dy; fills dx unless it is null.
  void backward(const float* x, float* dx) {
    if (rectified)
      for (size_t i = 0; i < y.size(); ++i) dy[i] = y[i] > 0 ? dy[i] : 0;
    float* db = &parameters.gradient[bias];
    std::fill_n(db, outputs, 0.0F);
    for (size_t row = 0; row < rows; ++row)
      for (size_t i = 0; i < outputs; ++i) db[i] += dy[row * outputs + i];
    product_of_transposed(inputs, outputs, rows, x, dy.data(), &parameters.gradient[weight]);
    if (dx != nullptr)
      product_with_transposed(rows, inputs, outputs, dy.data(), &parameters.value[weight], 0, dx);
  }
};

/// Mean over the rows of -log softmax(logits)[label]; turns logits into probabilities and fills their gradient.
inline float cross_entropy(Numbers& logits, const std::vector<int>& labels, Numbers& gradient) {
  const size_t rows = labels.size(), classes = logits.size() / rows;
  float loss = 0;
  for (size_t row = 0; row < rows; ++row) {
    float *p = &logits[row * classes], *g = &gradient[row * classes];
    const float largest = *std::max_element(p, p + classes);
    float sum = 0;
    for (size_t i = 0; i < classes; ++i) sum += p[i] = std::exp(p[i] - largest);
    for (size_t i = 0; i < classes; ++i) g[i] = (p[i] /= sum) / static_cast<float>(rows);
    const auto label = static_cast<size_t>(labels[row]);
    g[label] -= 1 / static_cast<float>(rows);
    loss -= std::log(p[label]) / static_cast<float>(rows);
  }
  return loss;
}

/// A 5 x 5 convolution padded to the size of its input, relu, then the largest of each 2 x 2 window.
struct Convolution {
  static constexpr size_t window = 5;
  Parameters& parameters;
  size_t images, side, channels, outputs;
  size_t pixels = images * side * side, patch_size = window * window * channels, half = side / 2;
  Dense dense = Dense{parameters, pixels, patch_size, outputs};
  Numbers patches = Numbers(pixels * patch_size), patch_gradient = {};
  Numbers pooled = Numbers(images * half * half * outputs), pooled_gradient = pooled;
  std::vector<unsigned> largest = std::vector<unsigned>(pooled.size());

  /// Calls visit(place in patches, place in the image, count) for each run of numbers that a row of a window shares with an
  /// image.
  template <class Visit>
  void for_each_run(const Visit& visit) const {
    const auto last = static_cast<long>(side);
    size_t patch = 0;
    for (size_t image = 0; image < images; ++image)
      for (long y = 0; y < last; ++y)
        for (long x = 0; x < last; ++x)
          for (long dy = -2; dy <= 2; ++dy, patch += window * channels) {
            if (y + dy < 0 || y + dy >= last) continue;
            const long begin = std::max(0L, x - 2), end = std::min(last, x + 3);
            const size_t row = (image * side + static_cast<size_t>(y + dy)) * side;
            visit(patch + static_cast<size_t>(begin - x + 2) * channels,
                  (row + static_cast<size_t>(begin)) * channels, static_cast<size_t>(end - begin) * channels);
          }
  }

  const Numbers& forward(const float* x) {
    for_each_run([&](size_t to, size_t from, size_t count) { std::copy_n(x + from, count, &patches[to]); });
    const Numbers& maps = dense.forward(patches.data());
    size_t place = 0;
    for (size_t row = 0; row < images * half; ++row)
      for (size_t column = 0; column < half; ++column)
        for (size_t output = 0; output < outputs; ++output, ++place) {
          const size_t corner = (2 * row * side + 2 * column) * outputs + output;
          size_t best = corner;
          for (const size_t other :
               {corner + outputs, corner + side * outputs, corner + (side + 1) * outputs})
            best = maps[other] > maps[best] ? other : best;
          pooled[place] = maps[best];
          largest[place] = static_cast<unsigned>(best);
        }
    return pooled;
  }

  /// From pooled_gradient; adds to dx unless it is null.
  void backward(float* dx) {
    std::fill(dense.dy.begin(), dense.dy.end(), 0.0F);
    for (size_t i = 0; i < pooled.size(); ++i) dense.dy[largest[i]] = pooled_gradient[i];
    if (dx == nullptr) return dense.backward(patches.data(), nullptr);
    patch_gradient.resize(patches.size());
    dense.backward(patches.data(), patch_gradient.data());
    for_each_run([&](size_t from, size_t to, size_t count) {
      for (size_t i = 0; i < count; ++i) dx[to + i] += patch_gradient[from + i];
    });
  }
};

struct Mlp {
  explicit Mlp(size_t batch)
      : first{parameters, batch, 784, 1000},
        second{parameters, batch, 1000, 1000},
        logits{parameters, batch, 1000, 10, false} {}

  void forward(const Numbers& x) { logits.forward(second.forward(first.forward(x.data()).data()).data()); }
  void backward(const Numbers& x) {
    logits.backward(second.y.data(), second.dy.data());
    second.backward(first.y.data(), first.dy.data());
    first.backward(x.data(), nullptr);
  }

  Parameters parameters;
  Dense first, second, logits;
};

struct Convnet {
  explicit Convnet(size_t batch)
      : first{parameters, batch, 28, 1, 32},
        second{parameters, batch, 14, 32, 64},
        hidden{parameters, batch, 3136, 512},
        logits{parameters, batch, 512, 10, false} {}

  void forward(const Numbers& x) {
    logits.forward(hidden.forward(second.forward(first.forward(x.data()).data()).data()).data());
  }
  void backward(const Numbers&) {
    logits.backward(hidden.y.data(), hidden.dy.data());
    hidden.backward(second.pooled.data(), second.pooled_gradient.data());
    std::fill(first.pooled_gradient.begin(), first.pooled_gradient.end(), 0.0F);
    second.backward(first.pooled_gradient.data());
    first.backward(nullptr);
  }

  Parameters parameters;
  Convolution first, second;
  Dense hidden, logits;
};

}  // namespace by_hand
