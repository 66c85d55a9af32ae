#pragma once
// What a model written by hand needs: matrix products by OpenBLAS, parameters, Adam, random data.

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace by_hand {

using Numbers = std::vector<float>;

inline Numbers normal(size_t count, float scale, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution(0, scale);
  Numbers values(count);
  for (float& value : values) value = distribution(random);
  return values;
}

/// All parameters of a model, with their gradients and moments.
struct Parameters {
  Numbers value, gradient, mean, square;
  int steps = 0;

  /// Where `count` new ones begin; they start as normal numbers of this scale.
  size_t add(size_t count, float scale) {
    const size_t begin = value.size();
    const Numbers start = normal(count, scale, static_cast<unsigned>(begin + 1));
    value.insert(value.end(), start.begin(), start.end());
    for (Numbers* each : {&gradient, &mean, &square}) each->resize(value.size());
    return begin;
  }

  void adam_step(float rate) {
    ++steps;
    const float b1 = 0.9F, b2 = 0.999F;
    const float step = rate / (1 - std::pow(b1, static_cast<float>(steps)));
    const float scale = 1 / (1 - std::pow(b2, static_cast<float>(steps)));
    float *v = value.data(), *m = mean.data(), *s = square.data();
    const float* g = gradient.data();
#pragma omp simd
    for (size_t i = 0; i < value.size(); ++i) {
      m[i] = b1 * m[i] + (1 - b1) * g[i];
      s[i] = b2 * s[i] + (1 - b2) * g[i] * g[i];
      v[i] -= step * m[i] / (std::sqrt(s[i] * scale) + 1e-8F);
    }
  }
};

/// How many columns of a product OpenBLAS 0.3.21 takes at once with its kernel for small products, which ends at a million
/// multiply-adds and is up to eight times as fast with few rows.
inline size_t columns_at_once(size_t rows, size_t columns, size_t inner) {
  constexpr size_t most = 1'000'000, few_rows = 16;
  if (rows > few_rows || rows * columns * inner <= most) return columns;
  return std::max<size_t>(64, most / (rows * inner) / 64 * 64);
}

/// c [rows x columns] = a [rows x inner] b [inner x columns] + beta c; a single row by the product of a matrix and a vector.
inline void product(size_t rows, size_t columns, size_t inner, const float* a, const float* b, float beta,
                    float* c) {
  const int m = static_cast<int>(rows), n = static_cast<int>(columns), k = static_cast<int>(inner);
  if (m == 1) return cblas_sgemv(CblasRowMajor, CblasTrans, k, n, 1, b, n, a, 1, beta, c, 1);
  const size_t piece = columns_at_once(rows, columns, inner);
  for (size_t first = 0; first < columns; first += piece)
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m,
                static_cast<int>(std::min(piece, columns - first)), k, 1, a, k, b + first, n, beta, c + first,
                n);
}

/// c [rows x columns] = a [rows x inner] b^T, b [columns x inner], + beta c
inline void product_with_transposed(size_t rows, size_t columns, size_t inner, const float* a, const float* b,
                                    float beta, float* c) {
  const int m = static_cast<int>(rows), n = static_cast<int>(columns), k = static_cast<int>(inner);
  if (m == 1)
    cblas_sgemv(CblasRowMajor, CblasNoTrans, n, k, 1, b, k, a, 1, beta, c, 1);
  else
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1, a, k, b, k, beta, c, n);
}

/// c [rows x columns] = a^T b, a [inner x rows], b [inner x columns]: the gradient of a weight matrix
inline void product_of_transposed(size_t rows, size_t columns, size_t inner, const float* a, const float* b,
                                  float* c) {
  const int m = static_cast<int>(rows), n = static_cast<int>(columns), k = static_cast<int>(inner);
  if (k > 1) {
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, n, k, 1, a, m, b, n, 0, c, n);
    return;
  }
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < columns; ++column) c[row * columns + column] = a[row] * b[column];
}

}  // namespace by_hand
