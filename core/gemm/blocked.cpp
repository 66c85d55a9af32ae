// The blocked product: walks c tile by tile so that every operand is in the cache level intended for it.
//
//   for a block of k              the sums of a tile stay in registers for the length of the block
//     for a block of columns      so that what is kept of b fits L3
//       for a block of rows       its packed a comes from L3, one tile at a time
//         for a panel of b        packed just before its first use, it stays in L2
//           for a tile of rows    c[tile x panel] += a[tile x block] * b[block x panel]
//
// Products of up to `row_block` rows therefore touch b once, and pack it one panel at a time. Blocks are
// large: with shorter ones c would pass through memory more often, which costs more than a panel in L2
// instead of L1 (4 to 10% at 512 x 20000 x 2400 and 2400 x 7200 x 1280).

#include <algorithm>
#include <array>
#include <tuple>

#include "core/gemm/kernel.h"
#include "core/memory/allocator.h"
#include "core/threads/parallel.h"

namespace lamina::product_kernels {

namespace {

/// A tile's packed a, 6 x 1024 numbers, stays in 32 KB of L1; one of 14 rows would be cut too short for that.
constexpr size_t k_block = vector_registers == 32 ? 2560 : 1024, row_block = 512, column_block = 2048;
/// Of a product with packed weights. Its few rows of a then stay in L2 beside a panel of b, which is there anyway: with
/// 64 rows a step of k = 3072, 4096, 7200 runs 2, 3 and 5% faster than in one block.
constexpr size_t packed_k_block = 1536;

/// Where packed numbers are that have been read before: a megabyte stays in a core's L2.
Source source_of(size_t numbers) {
  return numbers * sizeof(real) > size_t{1} << 20 ? Source::memory : Source::cache;
}

/// Where the panels of b are: packed, or columns of the matrix itself.
struct Panels {
  const real* data;
  size_t row, panel;
  Source source;
  real* kept = nullptr;  ///< where the first tile leaves a packed copy for the others
};

/// Prefetches what is upcoming, in `times` equal portions.
class Fetcher {
 public:
  Fetcher() = default;
  Fetcher(const Upcoming& upcoming, size_t times) : left_(upcoming), done_(false) {
    for (size_t i = 0; i < left_.size(); ++i) helping_[i] = (left_[i].size() / times / line + 1) * line;
  }
  void next() {
    if (done_) return;
    done_ = true;
    for (size_t i = 0; i < left_.size(); ++i) {
      const size_t count = std::min(helping_[i], left_[i].size());
      for (size_t at = 0; at < count; at += line) __builtin_prefetch(left_[i].data() + at, 0, 2);
      left_[i] = left_[i].subspan(count);
      done_ = done_ && left_[i].empty();
    }
  }

 private:
  static constexpr size_t line = 64 / sizeof(real);  // a cache line, in numbers
  Upcoming left_{};
  std::array<size_t, std::tuple_size_v<Upcoming>> helping_{};
  bool done_ = true;
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
                    ConstView addend, Fetcher& fetcher) {
  const size_t vectors = columns > lanes ? (columns + panel_columns - 1) / panel_columns * 2 : 1;
  const bool direct = c.column == 1 && columns == vectors * lanes && (!addend.data || addend.column == 1);
  for (size_t i = 0; i < tiles.count; ++i) {
    const size_t row = tiles.begin(i), rows = tiles.length(i);
    const View c_tile = at(c, row, 0);
    const ConstView addend_tile = at(addend, row, 0);
    Tile t = {k,
              a + row * k,
              b.data,
              b.row,
              b.panel,
              c_tile.data,
              c.row,
              addend_tile.data,
              addend.row,
              b.kept,
              b.panel * ((columns + panel_columns - 1) / panel_columns)};
    const bool already_kept = b.kept && i > 0;
    if (already_kept) {
      t.b = b.kept;
      t.b_row = panel_columns;
    }
    const TileKernel kernel = tile_kernel(rows, vectors, already_kept ? Source::cache : b.source);
    fetcher.next();
    if (direct)
      kernel(t);
    else
      tile_through_buffer(kernel, t, rows, columns, c_tile, addend_tile);
  }
}

/// The columns of the next group of panels: as many panels as the kernel for `rows` rows takes at once, only
/// whole ones; then the remainder.
size_t group_columns(size_t rows, size_t columns_left) {
  for (size_t columns = widest_tile(rows) * lanes; columns >= panel_columns; columns /= 2)
    if (columns <= columns_left) return columns;
  return columns_left;
}

void pack_tiles(Transpose op, const Parts& tiles, size_t k, const real* a, size_t lda, real* out) {
  const size_t step = op == Transpose::yes ? packed_at_once : k;
  for (size_t p = 0; p < k; p += step)
    for (size_t i = 0; i < tiles.count; ++i) {
      const size_t row = tiles.begin(i), rows = tiles.length(i);
      pack_rows(op, rows, std::min(step, k - p), at(op, a, lda, row, p), lda, out + row * k + p * rows);
    }
}

/// Packs or borrows the panels of one group of columns: b is the block [k x columns] as stored, `packed` has
/// room for it.
Panels prepare_panels(Transpose op, size_t tiles, size_t k, size_t columns, const real* b, size_t ldb,
                      real* packed, bool reused) {
  if (op == Transpose::no && columns % panel_columns == 0) {
    if (tiles == 1 && !reused) return {b, ldb, panel_columns, Source::memory};
    return {b, ldb, panel_columns, Source::keep, packed};
  }
  for (size_t at = 0; at < columns; at += panel_columns)
    pack_panel(op, k, std::min(panel_columns, columns - at), b + (op == Transpose::yes ? at * ldb : at), ldb,
               packed + at * k);
  return {packed, panel_columns, panel_columns * k, Source::cache};
}

/// c[m x n] += one block of k: [p, p + k).
void multiply_k_block(const Product& q, size_t p, size_t k, ConstView addend) {
  const Parts row_blocks(q.m, row_block), column_blocks(q.n, column_block);
  const bool reused = row_blocks.count > 1;
  Fetcher nothing;
  for (size_t cb = 0; cb < column_blocks.count; ++cb) {
    const size_t first = column_blocks.begin(cb), width = column_blocks.length(cb);
    // With one block of rows every panel is used once, right after packing: one group of panels is all we
    // keep.
    const size_t kept = reused ? (width + panel_columns - 1) / panel_columns * panel_columns : 8 * lanes;
    real* const b_packed = scratch<PanelOfB>(kept * k);
    for (size_t rb = 0; rb < row_blocks.count; ++rb) {
      const size_t row = row_blocks.begin(rb), rows = row_blocks.length(rb);
      const Parts tiles(rows, max_tile_rows);
      real* const a_packed = scratch<RowsOfA>(rows * k + 2 * lanes);
      pack_tiles(q.a_op, tiles, k, at(q.a_op, q.a, q.lda, row, p), q.lda, a_packed);
      for (size_t done = 0, columns = 0; done < width; done += columns) {
        columns = group_columns(tiles.length(0), width - done);
        const size_t j = first + done;
        real* const packed = b_packed + (reused ? done * k : 0);
        const Panels panels = rb == 0
                                  ? prepare_panels(q.b_op, tiles.count, k, columns,
                                                   at(q.b_op, q.b, q.ldb, p, j), q.ldb, packed, reused)
                                  : Panels{packed, panel_columns, panel_columns * k, source_of(width * k)};
        multiply_group(a_packed, tiles, k, panels, columns, at(q.c, row, j), at(addend, row, j), nothing);
      }
    }
  }
}

}  // namespace

void blocked_product(const Product& q) {
  const Parts k_blocks(q.k, k_block);
  for (size_t b = 0; b < k_blocks.count; ++b)
    multiply_k_block(q, k_blocks.begin(b), k_blocks.length(b),
                     b == 0 ? q.addend : ConstView{q.c.data, q.c.row, q.c.column});
}

}  // namespace lamina::product_kernels

namespace lamina {

using namespace product_kernels;

void PackedMatrix::Release::operator()(real* memory) const { memory::release(memory, bytes); }

size_t packed_column_step() { return panel_columns; }

void PackedMatrix::pack(Transpose op, size_t k, size_t n, const real* b, size_t ldb) {
  // The last panel_columns numbers let a range that begins inside the last panel read whole vectors.
  const size_t needed = (n + panel_columns - 1) / panel_columns * panel_columns * k + panel_columns;
  if (needed > capacity_ || data_ == nullptr) {  // nullptr: moved from
    capacity_ = (needed + 1023) / 1024 * 1024;
    const size_t bytes = capacity_ * sizeof(real);
    data_ = std::unique_ptr<real, Release>(static_cast<real*>(memory::allocate(bytes)), Release{bytes});
  }
  rows_ = k;
  columns_ = n;
  const size_t panels = (n + panel_columns - 1) / panel_columns;
  parallel_for(panels, grain_of(panel_columns * k), [&](size_t begin, size_t end) {
    for (size_t panel = begin; panel < end; ++panel) {
      const size_t j = panel * panel_columns;
      pack_panel(op, k, std::min(panel_columns, n - j), b + (op == Transpose::yes ? j * ldb : j), ldb,
                 data_.get() + j * k);
    }
  });
}

void gemm_packed(size_t m, const real* a, size_t lda, const PackedMatrix& b, real* c, size_t ldc,
                 bool accumulate, size_t column_begin, size_t column_end, const Upcoming& upcoming) {
  const size_t k = b.rows(), end = std::min(column_end, b.columns());
  if (m == 0 || column_begin >= end) return;
  const Source source = source_of((end - column_begin) * k);
  const Parts k_blocks(k, packed_k_block);
  for (size_t row = 0; row < m; row += row_block) {
    const size_t rows = std::min(row_block, m - row);
    const Parts tiles(rows, max_tile_rows);
    const size_t groups = (end - column_begin) / group_columns(tiles.length(0), end - column_begin);
    Fetcher fetcher(row == 0 ? upcoming : Upcoming{}, tiles.count * groups * k_blocks.count);
    for (size_t block = 0; block < k_blocks.count; ++block) {
      const size_t p = k_blocks.begin(block), depth = k_blocks.length(block);
      real* const a_packed = scratch<RowsOfA>(rows * depth + lanes);
      pack_tiles(Transpose::no, tiles, depth, a + row * lda + p, lda, a_packed);
      for (size_t j = column_begin, columns = 0; j < end; j += columns) {
        // Ranges that begin inside a panel go vector by vector to the panel's end.
        const size_t inside = j % panel_columns;
        columns =
            inside ? std::min(panel_columns - inside, end - j) : group_columns(tiles.length(0), end - j);
        const real* const panel = b.data() + (j - inside) * k + p * panel_columns + inside;
        real* const to = c + row * ldc + j;
        multiply_group(a_packed, tiles, depth, {panel, panel_columns, panel_columns * k, source}, columns,
                       {to, ldc, 1}, {accumulate || block > 0 ? to : nullptr, ldc, 1}, fetcher);
      }
    }
  }
}

}  // namespace lamina
