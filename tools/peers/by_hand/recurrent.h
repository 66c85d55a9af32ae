#pragma once
// LSTM and GRU over whole sequences [steps x batch x features] by hand: the inputs of all steps in one product, so too the
// gradients of the weights. Loss: the mean square of all states, of which the first is 0.

#include <algorithm>

#include "tools/peers/by_hand/arrays.h"

namespace by_hand {

inline float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

struct Sizes {
  size_t steps, batch, input, hidden;
};

/// Weights of the gates side by side: [input x gates hidden] and [hidden x gates hidden].
struct RecurrentWeights {
  Sizes sizes;
  size_t gates, width = gates * sizes.hidden;
  Parameters parameters = {};
  size_t input_weight = parameters.add(sizes.input * width, 0.05F);
  size_t hidden_weight = parameters.add(sizes.hidden * width, 0.05F);

  Numbers transposed =
      Numbers(sizes.hidden * width);  ///< the hidden weights: OpenBLAS is slow with few rows otherwise
  size_t rows() const { return sizes.steps * sizes.batch; }

  void transpose() {
    const int rows = static_cast<int>(sizes.hidden), columns = static_cast<int>(width);
    cblas_somatcopy(CblasRowMajor, CblasTrans, rows, columns, 1, &parameters.value[hidden_weight], columns,
                    transposed.data(), rows);
  }
};

struct Lstm : RecurrentWeights {
  size_t bias = parameters.add(width, 0);
  size_t cells = sizes.batch * sizes.hidden;  ///< of one step
  Numbers z = Numbers(rows() * width);  ///< summed inputs, then the gates f, i, o, g, then their gradients
  Numbers h = Numbers((sizes.steps + 1) * cells), c = h, tanh_c = h, dh = Numbers(cells), dc = dh;

  explicit Lstm(const Sizes& s) : RecurrentWeights{s, 4} {}

  void forward(const float* x) {
    for (size_t row = 0; row < rows(); ++row) std::copy_n(&parameters.value[bias], width, &z[row * width]);
    product(rows(), width, sizes.input, x, &parameters.value[input_weight], 1, z.data());
    for (size_t t = 0; t < sizes.steps; ++t) {
      float* gates_now = &z[t * sizes.batch * width];
      if (t > 0)
        product(sizes.batch, width, sizes.hidden, &h[t * cells], &parameters.value[hidden_weight], 1,
                gates_now);
      for (size_t row = 0; row < sizes.batch; ++row)
        cell(gates_now + row * width, t * cells + row * sizes.hidden);
    }
  }

  /// One row: from the state at `before` to that of the next step.
  void cell(float* __restrict gate, size_t before) {
    const size_t n = sizes.hidden;
    const float* __restrict old = &c[before];
    float* __restrict memory = &c[before + cells], * __restrict squashed = &tanh_c[before + cells], * __restrict state = &h[before + cells];
    for (size_t i = 0; i < 3 * n; ++i) gate[i] = sigmoid(gate[i]);
    for (size_t i = 3 * n; i < 4 * n; ++i) gate[i] = std::tanh(gate[i]);
    for (size_t i = 0; i < n; ++i) memory[i] = gate[i] * old[i] + gate[n + i] * gate[3 * n + i];
    for (size_t i = 0; i < n; ++i) squashed[i] = std::tanh(memory[i]);
    for (size_t i = 0; i < n; ++i) state[i] = gate[2 * n + i] * squashed[i];
  }

  void backward(const float* x) {
    const float scale = 2 / static_cast<float>(sizes.steps * cells);
    transpose();
    std::fill(dh.begin(), dh.end(), 0.0F);
    std::fill(dc.begin(), dc.end(), 0.0F);
    for (size_t t = sizes.steps; t-- > 0;) {
      float* gates_now = &z[t * sizes.batch * width];
      for (size_t row = 0; row < sizes.batch; ++row)
        cell_gradient(gates_now + row * width, t * cells + row * sizes.hidden, row * sizes.hidden, scale);
      if (t > 0) product(sizes.batch, sizes.hidden, width, gates_now, transposed.data(), 0, dh.data());
    }
    product_of_transposed(sizes.input, width, rows(), x, z.data(), &parameters.gradient[input_weight]);
    product_of_transposed(sizes.hidden, width, rows(), h.data(), z.data(),
                          &parameters.gradient[hidden_weight]);
    std::fill_n(&parameters.gradient[bias], width, 0.0F);
    for (size_t row = 0; row < rows(); ++row)
      for (size_t i = 0; i < width; ++i) parameters.gradient[bias + i] += z[row * width + i];
  }

  void cell_gradient(float* __restrict gate, size_t before, size_t row, float scale) {
    const size_t n = sizes.hidden;
    const float* __restrict old = &c[before], * __restrict squashed = &tanh_c[before + cells], * __restrict state = &h[before + cells], * __restrict from_next = &dh[row];
    float* __restrict memory_gradient = &dc[row];
    for (size_t i = 0; i < n; ++i) {
      const float f = gate[i], in = gate[n + i], o = gate[2 * n + i], g = gate[3 * n + i];
      const float d = from_next[i] + scale * state[i];
      const float m = memory_gradient[i] + d * o * (1 - squashed[i] * squashed[i]);
      gate[i] = m * old[i] * f * (1 - f);
      gate[n + i] = m * g * in * (1 - in);
      gate[2 * n + i] = d * squashed[i] * o * (1 - o);
      gate[3 * n + i] = m * in * (1 - g * g);
      memory_gradient[i] = m * f;
    }
  }
};

/// (z, r) and the candidate n = tanh(x W + sigmoid(r) h U), h' = (1 - sigmoid(z)) h + sigmoid(z) n; no biases.
struct Gru : RecurrentWeights {
  size_t cells = sizes.batch * sizes.hidden;
  Numbers a = Numbers(rows() * width), u = a;  ///< from x and from h; then the gradients of both
  Numbers h = Numbers((sizes.steps + 1) * cells), dh = Numbers(cells), carried = dh;

  explicit Gru(const Sizes& s) : RecurrentWeights{s, 3} {}

  void forward(const float* x) {
    product(rows(), width, sizes.input, x, &parameters.value[input_weight], 0, a.data());
    for (size_t t = 0; t < sizes.steps; ++t) {
      const size_t begin = t * sizes.batch * width;
      product(sizes.batch, width, sizes.hidden, &h[t * cells], &parameters.value[hidden_weight], 0,
              &u[begin]);
      for (size_t row = 0; row < sizes.batch; ++row)
        cell(&a[begin + row * width], &u[begin + row * width], t * cells + row * sizes.hidden);
    }
  }

  /// Leaves z, r, n in the place of x's part.
  void cell(float* __restrict from_x, const float* __restrict from_h, size_t before) {
    const size_t n = sizes.hidden;
    const float* __restrict old = &h[before];
    float* __restrict state = &h[before + cells];
    for (size_t i = 0; i < 2 * n; ++i) from_x[i] = sigmoid(from_x[i] + from_h[i]);
    for (size_t i = 2 * n; i < 3 * n; ++i) from_x[i] = std::tanh(from_x[i] + from_x[i - n] * from_h[i]);
    for (size_t i = 0; i < n; ++i) state[i] = old[i] + from_x[i] * (from_x[2 * n + i] - old[i]);
  }

  void backward(const float* x) {
    const float scale = 2 / static_cast<float>(sizes.steps * cells);
    transpose();
    std::fill(dh.begin(), dh.end(), 0.0F);
    for (size_t t = sizes.steps; t-- > 0;) {
      const size_t begin = t * sizes.batch * width;
      for (size_t row = 0; row < sizes.batch; ++row)
        cell_gradient(&a[begin + row * width], &u[begin + row * width], t * cells + row * sizes.hidden,
                      row * sizes.hidden, scale);
      dh = carried;
      if (t > 0) product(sizes.batch, sizes.hidden, width, &u[begin], transposed.data(), 1, dh.data());
    }
    product_of_transposed(sizes.input, width, rows(), x, a.data(), &parameters.gradient[input_weight]);
    product_of_transposed(sizes.hidden, width, rows(), h.data(), u.data(),
                          &parameters.gradient[hidden_weight]);
  }

  void cell_gradient(float* __restrict from_x, float* __restrict from_h, size_t before, size_t row,
                     float scale) {
    const size_t n = sizes.hidden;
    const float* __restrict old = &h[before], * __restrict state = &h[before + cells], * __restrict from_next = &dh[row];
    float* __restrict to_before = &carried[row];
    for (size_t i = 0; i < n; ++i) {
      const float z = from_x[i], r = from_x[n + i], candidate = from_x[2 * n + i];
      const float d = from_next[i] + scale * state[i];
      const float dn = d * z * (1 - candidate * candidate);
      to_before[i] = d * (1 - z);
      from_x[i] = from_h[i] = d * (candidate - old[i]) * z * (1 - z);
      from_x[n + i] = dn * from_h[2 * n + i] * r * (1 - r);
      from_h[2 * n + i] = dn * r;
      from_x[2 * n + i] = dn;
      from_h[n + i] = from_x[n + i];
    }
  }
};

}  // namespace by_hand
