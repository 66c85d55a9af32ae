// The blocked product: walks c tile by tile so that every operand is in the cache it should be in.
//
//   for a block of k            the sums of a tile stay in registers for the length of the block
//     for a block of rows       its packed a stays in L2
//       for a panel of b        packed just before its first use, it stays in L1 or close
//         for a tile of rows    c[tile x panel] += a[tile x block] * b[block x panel]
//
// Products of up to `row_block` rows therefore touch b once, and pack it one panel at a time.

#include <algorithm>
#include <cstdlib>
#include <new>

#include "core/gemm_kernel.h"

namespace lamina::gemm_detail {

namespace {

constexpr size_t k_block = 512, row_block = 256, column_block = 4096;

/// Cuts `size` into the fewest parts of at most `limit`, as equal as possible; part i begins at begin(i).
struct Parts {
  size_t size, count;
  Parts(size_t size_, size_t limit) : size(size_), count((size_ + limit - 1) / limit) {}
  size_t begin(size_t i) const { return size / count * i + std::min(i, size % count); }
  size_t length(size_t i) const { return begin(i + 1) - begin(i); }
};

thread_local Workspace a_space, b_space;

/// Where the panels of b are: packed, or columns of the matrix itself.
struct Panels {
  const real* data;
  size_t row, panel;
};

/// Runs one tile whose result may be partial in width or transposed: it goes through a small buffer.
void tile_through_buffer(TileKernel kernel, Tile t, size_t rows, size_t columns, View c, ConstView addend) {
  alignas(64) real buffer[max_tile_rows * 8 * lanes];
  constexpr size_t stride = 8 * lanes;
  if (addend.data)
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < stride; ++j)
        buffer[i * stride + j] = j < columns ? addend.data[i * addend.row + j * addend.column] : 0;
  t.c = buffer;
  t.c_row = stride;
  t.addend = addend.data ? buffer : nullptr;
  t.addend_row = stride;
  kernel(t);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j) c.data[i * c.row + j * c.column] = buffer[i * stride + j];
}

/// c[rows x columns] from packed rows of a and the panels of one group, columns <= 8 vectors.
void multiply_group(const real* a, const Parts& tiles, size_t k, const Panels& b, size_t columns, View c,
                    ConstView addend) {
  const size_t vectors = columns > lanes ? (columns + panel_columns - 1) / panel_columns * 2 : 1;
  const bool direct = c.column == 1 && columns == vectors * lanes && (!addend.data || addend.column == 1);
  for (size_t i = 0; i < tiles.count; ++i) {
    const size_t row = tiles.begin(i), rows = tiles.length(i);
    const View c_tile = {c.data + row * c.row, c.row, c.column};
    const ConstView addend_tile = {addend.data ? addend.data + row * addend.row : nullptr, addend.row,
                                   addend.column};
    const Tile t = {k, a + row * k, b.data, b.row, b.panel, c_tile.data, c.row, addend_tile.data, addend.row};
    const TileKernel kernel = tile_kernel(rows, vectors);
    if (direct)
      kernel(t);
    else
      tile_through_buffer(kernel, t, rows, columns, c_tile, addend_tile);
  }
}

/// The columns of the next group of panels: as many panels as the kernel for `rows` rows takes at once, whole
/// ones only; then what is left.
size_t group_columns(size_t rows, size_t columns_left) {
  for (size_t columns = widest_tile(rows) * lanes; columns >= panel_columns; columns /= 2)
    if (columns <= columns_left) return columns;
  return columns_left;
}

void pack_tiles(Transpose op, const Parts& tiles, size_t k, const real* a, size_t lda, real* out) {
  for (size_t i = 0; i < tiles.count; ++i) {
    const size_t row = tiles.begin(i);
    pack_rows(op, tiles.length(i), k, a + (op == Transpose::yes ? row : row * lda), lda, out + row * k);
  }
}

}  // namespace

void blocked_product(const Product& q) {
  const Parts k_blocks(q.k, k_block), row_blocks(q.m, row_block), column_blocks(q.n, column_block);
  // With one block of rows every panel is used once, right after packing: one group of panels is all we keep.
  const bool keep_panels = row_blocks.count > 1;
  for (size_t kb = 0; kb < k_blocks.count; ++kb) {
    const size_t p = k_blocks.begin(kb), k = k_blocks.length(kb);
    const ConstView start = kb > 0 ? ConstView{q.c.data, q.c.row, q.c.column} : q.addend;
    for (size_t cb = 0; cb < column_blocks.count; ++cb) {
      const size_t first = column_blocks.begin(cb), width = column_blocks.length(cb);
      const size_t kept =
          keep_panels ? (width + panel_columns - 1) / panel_columns * panel_columns : 8 * lanes;
      real* const b_packed = b_space.reserve(kept * k);
      for (size_t rb = 0; rb < row_blocks.count; ++rb) {
        const size_t row = row_blocks.begin(rb), rows = row_blocks.length(rb);
        const Parts tiles(rows, max_tile_rows);
        real* const a_packed = a_space.reserve(rows * k + lanes);
        pack_tiles(q.a_op, tiles, k, q.a_op == Transpose::yes ? q.a + p * q.lda + row : q.a + row * q.lda + p,
                   q.lda, a_packed);
        for (size_t done = 0, columns = 0; done < width; done += columns) {
          columns = group_columns(tiles.length(0), width - done);
          const size_t j = first + done;
          real* const group = b_packed + (keep_panels ? done * k : 0);
          if (rb == 0)
            for (size_t at = 0; at < columns; at += panel_columns)
              pack_panel(q.b_op, k, std::min(panel_columns, columns - at),
                         q.b_op == Transpose::yes ? q.b + (j + at) * q.ldb + p : q.b + p * q.ldb + j + at,
                         q.ldb, group + at * k);
          const View c = {q.c.data + row * q.c.row + j * q.c.column, q.c.row, q.c.column};
          const ConstView addend = {start.data ? start.data + row * start.row + j * start.column : nullptr,
                                    start.row, start.column};
          multiply_group(a_packed, tiles, k, {group, panel_columns, panel_columns * k}, columns, c, addend);
        }
      }
    }
  }
}

}  // namespace lamina::gemm_detail

namespace lamina {

using namespace gemm_detail;

void PackedMatrix::Release::operator()(real* memory) const { std::free(memory); }

size_t packed_column_step() { return panel_columns; }

void PackedMatrix::pack(Transpose op, size_t k, size_t n, const real* b, size_t ldb) {
  // The last panel_columns numbers let a range that begins inside the last panel read whole vectors.
  const size_t needed = (n + panel_columns - 1) / panel_columns * panel_columns * k + panel_columns;
  if (needed > capacity_) {
    capacity_ = (needed + 1023) / 1024 * 1024;
    data_.reset(static_cast<real*>(std::aligned_alloc(64, capacity_ * sizeof(real))));
    if (!data_) throw std::bad_alloc();
  }
  rows_ = k;
  columns_ = n;
  for (size_t j = 0; j < n; j += panel_columns)
    pack_panel(op, k, std::min(panel_columns, n - j), b + (op == Transpose::yes ? j * ldb : j), ldb,
               data_.get() + j * k);
}

void gemm_packed(size_t m, const real* a, size_t lda, const PackedMatrix& b, real* c, size_t ldc,
                 bool accumulate, size_t column_begin, size_t column_end) {
  const size_t k = b.rows(), end = std::min(column_end, b.columns());
  if (m == 0 || column_begin >= end) return;
  for (size_t row = 0; row < m; row += row_block) {
    const size_t rows = std::min(row_block, m - row);
    const Parts tiles(rows, max_tile_rows);
    real* const a_packed = a_space.reserve(rows * k + lanes);
    pack_tiles(Transpose::no, tiles, k, a + row * lda, lda, a_packed);
    for (size_t j = column_begin, columns = 0; j < end; j += columns) {
      // Ranges that begin inside a panel go vector by vector to the panel's end.
      const size_t inside = j % panel_columns;
      columns = inside ? std::min(panel_columns - inside, end - j) : group_columns(tiles.length(0), end - j);
      real* const to = c + row * ldc + j;
      multiply_group(a_packed, tiles, k,
                     {b.data() + (j - inside) * k + inside, panel_columns, panel_columns * k}, columns,
                     {to, ldc, 1}, {accumulate ? to : nullptr, ldc, 1});
    }
  }
}

}  // namespace lamina
