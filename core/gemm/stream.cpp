// Streaming form: whole rows of b and c pass through the registers, in storage order.
//
//   c[i][:] += a[i][p] * b[p][:]       for up to 4 rows i and 8 rows p at a time
//
// The numbers of a stay in registers, each broadcast to a vector; every step along the row loads `depth`
// vectors of b for rows x depth multiply-adds, which continue the sums of the previous passes. The addend
// comes last: added first, a bias that is large compared with the products would round every one of them.
// Nothing is packed and nothing is read out of order, which is all that counts where memory is the limit:
//   few rows    b, the weights, is read once; the few rows of c stay in L1
//   small k     c is written once; the few rows of b stay in L1

#include <algorithm>
#include <array>

#include "core/gemm/kernel.h"

namespace lamina::product_kernels {

namespace {

// Numbers of a in registers; the rest is for b and c.
constexpr size_t max_held = vector_registers / 2;
constexpr size_t max_depth = max_stream_k;
constexpr size_t column_block = 1024;      // of c, to keep it or b in L1
constexpr size_t steps_in_sequence = 256;  // of k; a longer running sum would round too often

constexpr size_t depth_for(size_t rows) { return std::min(max_depth, max_held / rows); }

struct Stream {
  size_t n;
  const real* a;  // [rows x depth], dense
  const real* b;
  size_t b_row;
  real* c;
  size_t c_row;
  const real* before;  // the sums to continue, rows `column_block` apart; may be null
  const real* addend;  // may be null
  size_t addend_row;
};

template <size_t rows, size_t depth, bool goes_on, bool add>
void stream(const Stream& s) {
  vec x[rows][depth];
#pragma GCC unroll 16
  for (size_t i = 0; i < rows; ++i)
#pragma GCC unroll 16
    for (size_t p = 0; p < depth; ++p) x[i][p] = splat(s.a[i * depth + p]);

  const real* const b = s.b;
  const real *const before = s.before, *const addend = s.addend;
  real* const c = s.c;
  const size_t b_row = s.b_row, c_row = s.c_row, addend_row = s.addend_row;
  const auto step = [&](size_t j, const auto& get, const auto& put) {
    vec sum[rows];
#pragma GCC unroll 16
    for (size_t i = 0; i < rows; ++i) sum[i] = goes_on ? get(before + i * column_block + j) : vec{};
#pragma GCC unroll 16
    for (size_t p = 0; p < depth; ++p) {
      vec y = get(b + p * b_row + j);
      hold(y);
#pragma GCC unroll 16
      for (size_t i = 0; i < rows; ++i) sum[i] += x[i][p] * y;
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < rows; ++i) {
      if constexpr (add) sum[i] += get(addend + i * addend_row + j);
      put(c + i * c_row + j, sum[i]);
    }
  };
  size_t j = 0;
  for (; j + lanes <= s.n; j += lanes) {
    step(
        j, [](const real* at) { return load(at); }, [](real* at, vec y) { store(at, y); });
  }
  if (const size_t rest = s.n - j; rest > 0)
    step(
        j, [rest](const real* at) { return load_first(at, rest); },
        [rest](real* at, vec y) { store_first(at, y, rest); });
}

using StreamKernel = void (*)(const Stream&);

template <size_t rows, size_t depth, bool goes_on, bool add>
constexpr StreamKernel kernel_or_null() {
  if constexpr (depth <= depth_for(rows))
    return stream<rows, depth, goes_on, add>;
  else
    return nullptr;
}
template <bool goes_on, bool add, size_t... index>
constexpr auto all_streams(std::index_sequence<index...>) {
  return std::array{kernel_or_null<index / max_depth + 1, index % max_depth + 1, goes_on, add>()...};
}
using Index = std::make_index_sequence<max_stream_rows * max_depth>;
constexpr std::array streams = {
    std::array{all_streams<false, false>(Index{}), all_streams<false, true>(Index{})},
    std::array{all_streams<true, false>(Index{}), all_streams<true, true>(Index{})}};

/// The rows to take at once: as many as leave room for the whole of k, when k is small.
size_t rows_at_once(size_t k) {
  size_t rows = max_stream_rows;
  while (rows > 1 && k <= max_depth && k > depth_for(rows)) --rows;
  return rows;
}

/// The buffers of one block of columns: b copied when all rows of c will need it, and the sums of a row
/// group.
struct Buffers {
  real* b;
  real* sums;
};

struct StreamedRows;  // a purpose of scratch memory

Buffers make_buffers() {
  real* const b = scratch<StreamedRows>((max_depth + max_stream_rows) * column_block);
  return {b, b + max_depth * column_block};
}

/// A group of rows of c[m x n], all of k. The sums rest in the aligned buffer until the last pass of a sequence
/// adds them to what came before it, the addend or c.
void stream_rows(const Product& q, size_t row, size_t rows, const Buffers& buffers, bool b_copied) {
  const Parts passes(q.k, depth_for(rows));
  const size_t in_sequence = steps_in_sequence / depth_for(rows);
  for (size_t pass = 0; pass < passes.count; ++pass) {
    const size_t p = passes.begin(pass), depth = passes.length(pass);
    alignas(64) real a[max_held];
    for (size_t i = 0; i < rows; ++i)
      for (size_t d = 0; d < depth; ++d) a[i * depth + d] = *at(q.a_op, q.a, q.lda, row + i, p + d);
    const bool first = pass % in_sequence == 0;
    const bool last = (pass + 1) % in_sequence == 0 || pass + 1 == passes.count;
    const real* const before = first ? nullptr : buffers.sums;
    const ConstView so_far = pass < in_sequence ? q.addend : ConstView{q.c.data, q.c.row, q.c.column};
    const ConstView addend = last ? at(so_far, row, 0) : ConstView{};
    const View to = last ? at(q.c, row, 0) : View{buffers.sums, column_block, 1};
    const auto& kernels = streams[before != nullptr][addend.data != nullptr];
    kernels[(rows - 1) * max_depth + depth - 1]({q.n, a, b_copied ? buffers.b : q.b + p * q.ldb,
                                                 b_copied ? column_block : q.ldb, to.data, to.row, before,
                                                 addend.data, addend.row});
  }
}

}  // namespace

void stream_product(const Product& q) {
  const Parts row_groups(q.m, rows_at_once(q.k)), column_blocks(q.n, column_block);
  const Buffers buffers = make_buffers();
  const bool copy_b = q.k <= max_depth && row_groups.count > 2;
  for (size_t j = 0; j < column_blocks.count; ++j) {
    Product block = q;
    block.n = column_blocks.length(j);
    block.b += column_blocks.begin(j);
    block.c = at(q.c, 0, column_blocks.begin(j));
    block.addend = at(q.addend, 0, column_blocks.begin(j));
    if (copy_b)
      for (size_t p = 0; p < q.k; ++p)
        std::copy_n(block.b + p * q.ldb, block.n, buffers.b + p * column_block);
    for (size_t i = 0; i < row_groups.count; ++i)
      stream_rows(block, row_groups.begin(i), row_groups.length(i), buffers, copy_b);
  }
}

}  // namespace lamina::product_kernels
