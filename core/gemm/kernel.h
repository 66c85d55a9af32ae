#pragma once
// The parts that the matrix products are assembled from; see core/gemm/kernel.cpp for the idea of the register
// tile.

#include <algorithm>
#include <cstddef>

#include "core/gemm/gemm.h"
#include "core/memory/workspace.h"
#include "core/simd.h"

namespace lamina::product_kernels {

using namespace simd;

/// Columns of a packed panel of b: two vectors. Rows of the tallest tile: with two vectors per row it fills the
/// registers, leaving room for the two vectors of b and one number of a.
inline constexpr size_t panel_columns = 2 * lanes;
inline constexpr size_t max_tile_rows = vector_registers == 32 ? 14 : 6;

/// Vectors per row of the widest tile that has room for `rows` rows: flat tiles read more panels at once,
/// because 8 to 10 independent sums are needed to keep both multiply-add units busy.
constexpr size_t widest_tile(size_t rows) {
  if (vector_registers == 32) return rows <= 3 ? 8 : rows <= 6 ? 4 : 2;
  return rows == 1 ? 8 : rows <= 3 ? 4 : 2;
}

/// How many vectors of a row of b stay in registers while each row of a uses them: those for which the sums and one number
/// of a leave room. g++ would rather load them again with every multiply-add: 15 loads instead of 7 for 10 multiply-adds
/// of a tile of 5 x 2, where a core loads two vectors in the time of two multiply-adds. A vector is held before it goes
/// into the array of a row; g++ keeps an array whose elements are held on the stack.
template <size_t rows, size_t vectors>
constexpr size_t held_of_row = rows == 1 ? 0 : std::min(vectors, vector_registers - 1 - rows * vectors);

/// Rounding grows with the length of a running sum: two of half the length have 0.7 of the error of one. So a tile sums
/// its k products in equal parts of at most 191, and keeps the sum of each in L1 meanwhile. Not in more: branch predictors
/// do not foresee the end of a loop of so many steps.
inline constexpr size_t longest_part = 191;
constexpr size_t part_of_sum(size_t k) {
  const size_t parts = (k + longest_part - 1) / longest_part;
  return parts > 1 ? (k + parts - 1) / parts : k;
}

/// Adds the sums of the previous parts to those of the last one.
template <size_t rows, size_t vectors>
[[gnu::always_inline]] inline void add_parts_before(vec (&sum)[rows][vectors], const real* before) {
#pragma GCC unroll 16
  for (size_t i = 0; i < rows; ++i)
#pragma GCC unroll 16
    for (size_t v = 0; v < vectors; ++v) sum[i][v] += load(before + (i * vectors + v) * lanes);
}

/// Stores the sums of a part.
template <size_t rows, size_t vectors>
[[gnu::always_inline]] inline void put_aside(const vec (&sum)[rows][vectors], real* before) {
#pragma GCC unroll 16
  for (size_t i = 0; i < rows; ++i)
#pragma GCC unroll 16
    for (size_t v = 0; v < vectors; ++v) store(before + (i * vectors + v) * lanes, sum[i][v]);
}

/// c = sums + addend, which may be null.
template <size_t rows, size_t vectors>
[[gnu::always_inline]] inline void store_sums(vec (&sum)[rows][vectors], real* c, size_t c_row,
                                              const real* addend, size_t addend_row) {
#pragma GCC unroll 16
  for (size_t i = 0; i < rows; ++i, c += c_row) {
#pragma GCC unroll 16
    for (size_t v = 0; v < vectors; ++v) {
      if (addend) sum[i][v] += load(addend + v * lanes);
      store(c + v * lanes, sum[i][v]);
    }
    if (addend) addend += addend_row;
  }
}

/// One tile: c[rows x vectors * lanes] = a * b + addend.
/// a is packed [k x rows]. Vector v of row p of b is at b + p * b_row + (v / 2) * b_panel + (v % 2) * lanes.
/// The addend (c itself, a bias with stride 0) may be null.
struct Tile {
  size_t k;
  const real* a;
  const real* b;
  size_t b_row, b_panel;
  real* c;
  size_t c_row;
  const real* addend;
  size_t addend_row;
  real* kept = nullptr;
  size_t next = 0;  ///< from these panels to the next ones, for prefetching
};
using TileKernel = void (*)(const Tile&);

/// Where a tile finds b.
enum class Source {
  cache,   ///< packed, in L2: the hardware prefetches; instructions for it only cost time
  memory,  ///< farther away: prefetched
  keep,    ///< the same, and also written to `kept` as a packed panel: packing for free, in the store
           ///< units that multiply-adds leave idle
};

/// The kernel for 1 <= rows <= max_tile_rows and 1, 2, 4 or 8 vectors, at most widest_tile(rows); 2 for
/// Source::keep.
TileKernel tile_kernel(size_t rows, size_t vectors, Source source);

/// How many rows of a transposed a to pack for one tile before the next, so that every tile finds them in L1.
inline constexpr size_t packed_at_once = 16;

/// op(a)[rows x k] as [k x rows]. Writes up to one vector past the end.
void pack_rows(Transpose op, size_t rows, size_t k, const real* a, size_t lda, real* out);

/// op(b)[k x columns] as [k x panel_columns], columns <= panel_columns, padded with zeros.
void pack_panel(Transpose op, size_t k, size_t columns, const real* b, size_t ldb, real* out);

// Purposes of scratch memory.
struct RowsOfA;
struct PanelOfB;
struct TransposedA;

/// A matrix element by element: any row and column stride, so that a transposed result is just another view.
struct View {
  real* data;
  size_t row, column;
};
struct ConstView {
  const real* data;
  size_t row, column;
};
inline View at(View v, size_t i, size_t j) { return {v.data + i * v.row + j * v.column, v.row, v.column}; }
inline ConstView at(ConstView v, size_t i, size_t j) {
  return {v.data ? v.data + i * v.row + j * v.column : nullptr, v.row, v.column};
}
/// Where element (i, j) of op(matrix) is stored.
inline const real* at(Transpose op, const real* matrix, size_t stride, size_t i, size_t j) {
  return op == Transpose::yes ? matrix + j * stride + i : matrix + i * stride + j;
}

/// Cuts `size` into the fewest parts of at most `limit`, one at least, as equal as possible; part i begins at begin(i).
struct Parts {
  size_t size, count;
  Parts(size_t total, size_t limit) : size(total), count(std::max<size_t>((total + limit - 1) / limit, 1)) {}
  size_t begin(size_t i) const { return size / count * i + std::min(i, size % count); }
  size_t length(size_t i) const { return begin(i + 1) - begin(i); }
};

/// One product as the kernels see it, on one thread. The addend's data may be null.
struct Product {
  size_t m, n, k;
  Transpose a_op, b_op;
  const real* a;
  size_t lda;
  const real* b;
  size_t ldb;
  View c;
  ConstView addend;
};

/// The ways to compute a product; core/gemm/README.md says which shape takes which.
enum class Path { blas, dot, stream, blocked };
/// The path of q. Where it fills the vectors better, q becomes the product of its transposed matrices.
Path choose_path(Product& q);

/// Packs panels and walks them tile by tile: right for all but the flattest shapes (core/gemm/blocked.cpp).
void blocked_product(const Product& product);
/// b stored transposed and few rows: every element of c is a dot product of two contiguous rows
/// (core/gemm/skinny.cpp).
void dot_product(const Product& product);
/// Few rows or small k, and b not transposed: whole rows of b and c stream past (core/gemm/stream.cpp).
void stream_product(const Product& product);
inline constexpr size_t max_stream_rows = 4, max_stream_k = 8;

/// The vector width, in bytes, of the kernels that OpenBLAS has chosen.
int blas_vector_bytes();
/// Whether OpenBLAS, as it runs here, serves c[m x n] with inner size k better than Lamina's kernels.
bool blas_is_faster(size_t m, size_t n, size_t k);
/// The whole product by OpenBLAS, on the calling thread alone; c and a bias untransposed.
void blas_product(const Product& product);

}  // namespace lamina::product_kernels
