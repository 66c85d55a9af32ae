// Flat products, which the packed tiles serve badly because nothing is used often enough to be worth packing.

#include <algorithm>
#include <array>

#include "core/gemm/kernel.h"

namespace lamina::kernels {

namespace {

// Dot form: c[i][j] = a_i . b_j, both rows contiguous in memory. The vectors run along k; a tile of 4 x 6
// sums needs 10 loads for 24 multiply-adds. b is read once, in storage order.
constexpr size_t dot_rows = vector_registers == 32 ? 4 : 3, dot_columns = vector_registers == 32 ? 6 : 3;

struct DotTile {
  size_t k;
  const real* a;
  size_t lda;
  const real* b;
  size_t ldb;
  real* sums;  // [rows x columns], in buffer of whole vectors
};

template <size_t rows, size_t columns>
void dot_tile(const DotTile& t) {
  constexpr size_t whole = (rows * columns + lanes - 1) / lanes * lanes;
  vec sum[whole] = {};
  const auto step = [&](const auto& get, size_t p) {
    vec x[rows];
#pragma GCC unroll 16
    for (size_t i = 0; i < rows; ++i) x[i] = get(t.a + i * t.lda + p);
#pragma GCC unroll 16
    for (size_t j = 0; j < columns; ++j) {
      vec y = get(t.b + j * t.ldb + p);
      hold(y);
#pragma GCC unroll 16
      for (size_t i = 0; i < rows; ++i) sum[i * columns + j] += x[i] * y;
    }
  };
  size_t p = 0;
  for (; p + lanes <= t.k; p += lanes) step([](const real* at) { return load(at); }, p);
  if (p < t.k) step([rest = t.k - p](const real* at) { return load_first(at, rest); }, p);
#pragma GCC unroll 16
  for (size_t i = 0; i < whole; i += lanes)
    store(t.sums + i, sum_lanes(reinterpret_cast<vec(&)[lanes]>(sum[i])));
}

using DotKernel = void (*)(const DotTile&);
template <size_t... index>
constexpr auto all_dots(std::index_sequence<index...>) {
  return std::array<DotKernel, sizeof...(index)>{
      dot_tile<index / dot_columns + 1, index % dot_columns + 1>...};
}
constexpr auto dots = all_dots(std::make_index_sequence<dot_rows * dot_columns>{});

}  // namespace

void dot_product(const Product& q) {
  const real* a = q.a;
  size_t lda = q.lda;
  if (q.a_op == Transpose::yes) {  // make its rows contiguous; there are few
    lda = q.k;
    real* const copy = scratch<TransposedA>(q.m * q.k);
    for (size_t p = 0; p < q.k; ++p)
      for (size_t i = 0; i < q.m; ++i) copy[i * lda + p] = q.a[p * q.lda + i];
    a = copy;
  }
  for (size_t j = 0; j < q.n; j += dot_columns) {
    const size_t columns = std::min(dot_columns, q.n - j);
    for (size_t i = 0; i < q.m; i += dot_rows) {
      const size_t rows = std::min(dot_rows, q.m - i);
      alignas(64) real sums[dot_rows * dot_columns + lanes];
      dots[(rows - 1) * dot_columns + columns - 1]({q.k, a + i * lda, lda, q.b + j * q.ldb, q.ldb, sums});
      for (size_t r = 0; r < rows; ++r)
        for (size_t s = 0; s < columns; ++s) {
          const real start =
              q.addend.data ? q.addend.data[(i + r) * q.addend.row + (j + s) * q.addend.column] : real{0};
          q.c.data[(i + r) * q.c.row + (j + s) * q.c.column] = sums[r * columns + s] + start;
        }
    }
  }
}

}  // namespace lamina::kernels
