// Flat products, which the packed tiles serve badly because nothing is used often enough to be worth packing.

#include <algorithm>
#include <array>

#include "core/gemm/kernel.h"

namespace lamina::product_kernels {

namespace {

// Dot form: c[i][j] = a_i . b_j, both rows contiguous in memory. The vectors run along k. A tile holds a vector of each
// of its rows of one matrix while the rows of the other one pass: 4 of a and 6 of b, 10 loads for 24 multiply-adds, or,
// with 16 registers, 3 of b and 4 of a, 7 loads for 12. b is read once, in storage order.
constexpr bool holds_a = vector_registers == 32;
constexpr size_t most_held = holds_a ? 4 : 3, most_passing = holds_a ? 6 : 4;
constexpr size_t dot_rows = holds_a ? most_held : most_passing,
                 dot_columns = holds_a ? most_passing : most_held;

struct DotTile {
  size_t k;
  const real* held;
  size_t held_row;
  const real* passing;
  size_t passing_row;
  real* sums;  // [held x passing], in buffer of whole vectors
};

template <size_t held, size_t passing>
void dot_tile(const DotTile& t) {
  constexpr size_t whole = (held * passing + lanes - 1) / lanes * lanes;
  vec sum[whole] = {};
  const auto step = [&](const auto& get, size_t p) {
    vec x[held];
#pragma GCC unroll 16
    for (size_t i = 0; i < held; ++i) {
      vec now = get(t.held + i * t.held_row + p);
      hold(now);
      x[i] = now;
    }
#pragma GCC unroll 16
    for (size_t j = 0; j < passing; ++j) {
      vec y = get(t.passing + j * t.passing_row + p);
      hold(y);
#pragma GCC unroll 16
      for (size_t i = 0; i < held; ++i) sum[i * passing + j] += x[i] * y;
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
      dot_tile<index / most_passing + 1, index % most_passing + 1>...};
}
constexpr auto dots = all_dots(std::make_index_sequence<most_held * most_passing>{});

/// c[rows x columns] of rows of a and of b.
void dot_rows_of(const Product& q, const real* a, size_t lda, size_t i, size_t rows, size_t j,
                 size_t columns) {
  alignas(64) real sums[most_held * most_passing + lanes];
  const real* const of_a = a + i * lda;
  const real* const of_b = q.b + j * q.ldb;
  const size_t held = holds_a ? rows : columns, passing = holds_a ? columns : rows;
  dots[(held - 1) * most_passing + passing - 1](holds_a ? DotTile{q.k, of_a, lda, of_b, q.ldb, sums}
                                                        : DotTile{q.k, of_b, q.ldb, of_a, lda, sums});
  const View c = at(q.c, i, j);
  const ConstView addend = at(q.addend, i, j);
  for (size_t r = 0; r < rows; ++r)
    for (size_t s = 0; s < columns; ++s)
      c.data[r * c.row + s * c.column] =
          sums[holds_a ? r * passing + s : s * passing + r] +
          (addend.data ? addend.data[r * addend.row + s * addend.column] : real{0});
}

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
  const Parts tiles(q.m, dot_rows);
  for (size_t j = 0; j < q.n; j += dot_columns)
    for (size_t i = 0; i < tiles.count; ++i)
      dot_rows_of(q, a, lda, tiles.begin(i), tiles.length(i), j, std::min(dot_columns, q.n - j));
}

}  // namespace lamina::product_kernels
