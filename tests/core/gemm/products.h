#pragma once
// Matrices between guard cells, and what their product is in long double: what gemm and gemm_packed are compared with.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/gemm/gemm.h"

namespace lamina::test::products {

constexpr real guard = real{-12345};

using sizes = std::vector<size_t>;

/// Reproducible numbers in [-1, 1].
inline std::vector<real> numbers(size_t count, unsigned seed) {
  std::vector<real> values(count);
  unsigned state = seed * 2654435761u + 1;
  for (real& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<real>(static_cast<int>(state >> 8) - (1 << 23)) / static_cast<real>(1 << 23);
  }
  return values;
}

struct Case {
  size_t m, n, k;
  GemmOptions options = {};
  size_t padding = 0;
};

inline std::string describe(const Case& t) {
  return std::to_string(t.m) + "," + std::to_string(t.n) + "," + std::to_string(t.k) +
         (t.options.a == Transpose::yes ? " T" : " N") + (t.options.b == Transpose::yes ? "T" : "N") +
         (t.options.accumulate ? " accumulate" : "") + (t.options.bias ? " bias" : "") + " padding " +
         std::to_string(t.padding);
}

/// A matrix stored with `padding` guard cells after every row, and a row of guards before and after.
struct Matrix {
  size_t rows, columns, stride;
  std::vector<real> cells;
  Matrix(size_t rows_, size_t columns_, size_t padding, unsigned seed)
      : rows(rows_), columns(columns_), stride(columns_ + padding), cells((rows_ + 2) * stride + 16, guard) {
    const auto values = numbers(rows * columns, seed);
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < columns; ++j) at(i, j) = values[i * columns + j];
  }
  real* data() { return cells.data() + stride; }
  const real* data() const { return cells.data() + stride; }
  real& at(size_t i, size_t j) { return data()[i * stride + j]; }
  real at(size_t i, size_t j) const { return data()[i * stride + j]; }
};

/// The matrix [rows x columns] of the numbers of `seed`, or its transposed storage.
inline Matrix stored(Transpose op, size_t rows, size_t columns, size_t padding, unsigned seed) {
  if (op == Transpose::no) return Matrix(rows, columns, padding, seed);
  const Matrix plain(rows, columns, 0, seed);
  Matrix transposed(columns, rows, padding, seed);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j) transposed.at(j, i) = plain.at(i, j);
  return transposed;
}
inline Matrix left(const Case& t) { return stored(t.options.a, t.m, t.k, t.padding, 1); }
inline Matrix right(const Case& t) { return stored(t.options.b, t.k, t.n, t.padding, 2); }

/// left(t) times right(t), which is the same in every form. Plain pointers: sanitizers make other access slow.
inline std::vector<long double> exact_product(size_t m, size_t n, size_t k) {
  const Matrix a(m, k, 0, 1), b = stored(Transpose::yes, k, n, 0, 2);
  std::vector<long double> sums;
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) {
      const real *const x = a.data() + i * k, *const y = b.data() + j * k;
      long double sum = 0;
      for (size_t p = 0; p < k; ++p) sum += static_cast<long double>(x[p]) * static_cast<long double>(y[p]);
      sums.push_back(sum);
    }
  return sums;
}

/// The largest error allowed for a sum of k products of numbers up to 1.
inline long double tolerance(size_t k) {
  return static_cast<long double>(std::numeric_limits<real>::epsilon()) * (4 + static_cast<long double>(k));
}

/// Compares c with the exact product inside [column_begin, column_end), and with `before` everywhere else.
inline void compare(const Case& t, const std::vector<long double>& product, const Matrix& before,
                    const Matrix& c, size_t column_begin = 0, size_t column_end = npos) {
  long double worst = 0;
  Matrix untouched = c;
  for (size_t i = 0; i < t.m; ++i)
    for (size_t j = column_begin; j < std::min(column_end, t.n); ++j) {
      const long double start = t.options.accumulate ? before.at(i, j)
                                : t.options.bias     ? t.options.bias[j]
                                                     : 0;
      const long double error =
          std::fabs(static_cast<long double>(c.at(i, j)) - (start + product[i * t.n + j]));
      worst = error <= worst ? worst : error;  // keeps a NaN
      untouched.at(i, j) = before.at(i, j);
    }
  CHECK_MESSAGE(worst <= tolerance(t.k), describe(t));
  CHECK_MESSAGE(untouched.cells == before.cells, "wrote outside c: ", describe(t));
}

}  // namespace lamina::test::products
