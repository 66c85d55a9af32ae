// Packing: the order in which the tile kernel reads its operands, made contiguous.
//
// A column of 2 vectors taken straight from a wide matrix touches a new page at every row, and when the row
// stride is a power of two all of these rows compete for the same few lines of the cache. Copied once into a
// panel [k x 2 vectors], the same numbers stream through the cache in order, for every tile of rows that
// needs them.

#include <algorithm>
#include <array>

#include "core/gemm/kernel.h"

namespace lamina::product_kernels {

namespace {

/// a stored [k x m]: `rows` neighbours of every stored row. A constant size lets memcpy become two moves.
template <size_t rows>
void copy_rows(size_t k, const real* a, size_t lda, real* out) {
  for (size_t p = 0; p < k; ++p) {
    __builtin_prefetch(a + (p + packed_at_once) * lda);  // of the next call for these columns
    std::memcpy(out + p * rows, a + p * lda, rows * sizeof(real));
  }
}

/// Reads `width` <= lanes numbers from each of `count` <= `vectors` rows, and transposes them.
template <int vectors>
[[gnu::always_inline]] inline void load_transposed(size_t count, size_t width, const real* from,
                                                   size_t stride, vec (&x)[vectors]) {
#pragma GCC unroll 16
  for (size_t i = 0; i < vectors; ++i)
    x[i] = i >= count       ? vec{}
           : width == lanes ? load(from + i * stride)
                            : load_first(from + i * stride, width);
  transpose(x);
}

/// a stored [rows x width <= lanes], transposed in registers. The vectors written overlap: what one leaves beyond its
/// `rows` numbers, the next overwrites.
template <size_t rows>
[[gnu::always_inline]] inline void transpose_block(size_t width, const real* a, size_t lda, real* out) {
  constexpr size_t half = lanes / 2, groups = (rows + lanes - 1) / lanes;
  if constexpr (rows <= half) {
    vec x[half];
    load_transposed(rows, width, a, lda, x);
#pragma GCC unroll 16
    for (size_t j = 0; j < lanes; ++j)
      if (j < width) store(out + j * rows, j < half ? x[j] : second_half(x[j - half]));
  } else {
    vec x[groups][lanes];
#pragma GCC unroll 16
    for (size_t g = 0; g < groups; ++g)
      load_transposed(std::min(rows - g * lanes, size_t{lanes}), width, a + g * lanes * lda, lda, x[g]);
#pragma GCC unroll 16
    for (size_t j = 0; j < lanes; ++j)
#pragma GCC unroll 16
      for (size_t g = 0; g < groups; ++g)
        if (j < width) store(out + j * rows + g * lanes, x[g][j]);
  }
}

/// a stored [rows x k].
template <size_t rows>
void transpose_rows(size_t k, const real* a, size_t lda, real* out) {
  const size_t whole = k / lanes * lanes;
  for (size_t p = 0; p < whole; p += lanes) transpose_block<rows>(lanes, a + p, lda, out + p * rows);
  if (whole < k) transpose_block<rows>(k - whole, a + whole, lda, out + whole * rows);
}

/// b stored [columns x k]. The rows of b are more streams than the hardware prefetches by itself: each is
/// prefetched into L2 eight vectors ahead.
void transpose_panel(size_t k, size_t columns, const real* b, size_t ldb, real* out) {
  constexpr size_t ahead = 8 * lanes;
  for (size_t p = 0; p < k; p += lanes) {
    const size_t width = std::min<size_t>(lanes, k - p);
    for (size_t j = 0; j < panel_columns; j += lanes) {
      const size_t count = std::min<size_t>(lanes, columns - std::min(columns, j));
      const real* const from = b + std::min(columns, j) * ldb + p;
      for (size_t i = 0; i < count; ++i) __builtin_prefetch(from + i * ldb + ahead, 0, 2);
      vec x[lanes];
      load_transposed(count, width, from, ldb, x);
      for (size_t i = 0; i < width; ++i) store(out + (p + i) * panel_columns + j, x[i]);
    }
  }
}

/// b stored [k x columns].
void copy_panel(size_t k, size_t columns, const real* b, size_t ldb, real* out) {
  if (columns < panel_columns) {
    const size_t whole = columns / lanes * lanes, rest = columns - whole;
    for (size_t p = 0; p < k; ++p, b += ldb, out += panel_columns) {
      if (whole) store(out, load(b));
      store(out + whole, rest ? load_first(b + whole, rest) : vec{});
      if (!whole) store(out + lanes, vec{});
    }
    return;
  }
  constexpr size_t ahead = 16;  // a wide matrix has each row on another page: no hardware prefetch
  for (size_t p = 0; p < k; ++p, b += ldb, out += panel_columns) {
    const real* soon = b + std::min(ahead, k - 1 - p) * ldb;
    __builtin_prefetch(soon);
    __builtin_prefetch(soon + panel_columns - 1);
    const vec left = load(b), right = load(b + lanes);
    store(out, left);
    store(out + lanes, right);
  }
}

using PackRows = void (*)(size_t k, const real* a, size_t lda, real* out);
template <size_t... index>
constexpr auto for_all_heights(std::index_sequence<index...>) {
  return std::array{std::array<PackRows, 2>{transpose_rows<index + 1>, copy_rows<index + 1>}...};
}
constexpr auto pack_height = for_all_heights(std::make_index_sequence<max_tile_rows>{});

}  // namespace

void pack_rows(Transpose op, size_t rows, size_t k, const real* a, size_t lda, real* out) {
  pack_height[rows - 1][op == Transpose::yes](k, a, lda, out);
}

void pack_panel(Transpose op, size_t k, size_t columns, const real* b, size_t ldb, real* out) {
  if (op == Transpose::yes)
    transpose_panel(k, columns, b, ldb, out);
  else
    copy_panel(k, columns, b, ldb, out);
}

}  // namespace lamina::product_kernels
