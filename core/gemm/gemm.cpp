// Which kernel serves which product, and how it is split over threads.

#include "core/gemm/gemm.h"

#include <algorithm>
#include <utility>

#include "core/gemm/kernel.h"
#include "core/threads/parallel.h"

namespace lamina {

using namespace product_kernels;

namespace {

// Below this many multiply-adds (about 3 us) one thread does it all; estimated from the cost of a parallel
// region.
constexpr double parallel_work = 4e5;
// Measured on 2 cores of a Zen 5 with AVX-512 and of a Zen 3 with AVX2. Above so many rows packing b is amortized; a is
// read again for every few columns and must stay in three quarters of one core's L2.
constexpr size_t max_dot_rows = vector_registers == 32 ? 128 : 48;
constexpr size_t max_dot_numbers = (vector_registers == 32 ? 192 : 96) * 1024;
// With 16 registers a row that streams meets at most 8 numbers of a, and the sums come and go more often: it has to be so
// many columns wide for each row of a, or half as many for each step of k.
constexpr size_t stream_columns = vector_registers == 32 ? 0 : 64;

/// Whether dot products of whole rows serve better than tiles. Summing up the lanes at the end of a dot
/// product takes as long as some 64 steps along k: too long when k is short and many rows share the packing
/// of b.
bool suits_dot_products(const Product& q) {
  return q.b_op == Transpose::yes && q.m <= max_dot_rows && q.m * q.k <= max_dot_numbers &&
         q.k >= std::max<size_t>(lanes, 4 * q.m);
}

/// Whether rows should stream: a tile would be too flat to be worth packing b. Rows of c and of the addend
/// must be contiguous; an exchanged bias is not. Narrow rows cost more in loads and stores of sums than packing does.
bool suits_streaming(const Product& q) {
  return q.b_op == Transpose::no && q.c.column == 1 && (q.addend.data == nullptr || q.addend.column == 1) &&
         ((q.m <= max_stream_rows && q.n >= stream_columns * q.m) ||
          (q.k <= max_stream_k && q.n >= stream_columns / 2 * q.k));
}

/// Whether BLAS, which counts in int, can be told the sizes and strides.
bool suits_blas(const Product& q) {
  return std::in_range<int>(std::max({q.m, q.n, q.k, q.lda, q.ldb, q.c.row}));
}

/// Share of the lanes that `columns` columns fill.
double lane_use(size_t columns) {
  const size_t padded = (columns + lanes - 1) / lanes * lanes;
  return static_cast<double>(columns) / static_cast<double>(padded);
}

/// c = a b is also c^T = b^T a^T: the same memory with the roles of rows and columns exchanged.
Product exchanged(const Product& q) {
  return {.m = q.n,
          .n = q.m,
          .k = q.k,
          .a_op = flipped(q.b_op),
          .b_op = flipped(q.a_op),
          .a = q.b,
          .lda = q.ldb,
          .b = q.a,
          .ldb = q.lda,
          .c = {q.c.data, q.c.column, q.c.row},
          .addend = {q.addend.data, q.addend.column, q.addend.row}};
}

Product part(const Product& q, size_t row, size_t rows, size_t column, size_t columns) {
  Product piece = q;
  piece.m = rows;
  piece.n = columns;
  piece.a += q.a_op == Transpose::yes ? row : row * q.lda;
  piece.b += q.b_op == Transpose::yes ? column * q.ldb : column;
  piece.c.data += row * q.c.row + column * q.c.column;
  if (q.addend.data) piece.addend.data += row * q.addend.row + column * q.addend.column;
  return piece;
}

void fill(const Product& q) {
  for (size_t i = 0; i < q.m; ++i)
    for (size_t j = 0; j < q.n; ++j)
      q.c.data[i * q.c.row + j * q.c.column] =
          q.addend.data ? q.addend.data[i * q.addend.row + j * q.addend.column] : real{0};
}

using Method = void (*)(const Product&);

Method method_of(Path path) {
  switch (path) {
    case Path::blas:
      return blas_product;
    case Path::dot:
      return dot_product;
    case Path::stream:
      return stream_product;
    case Path::blocked:
      return blocked_product;
  }
  return blocked_product;
}

/// A split of c into row_parts x column_parts pieces, one for each thread.
struct TeamSplit {
  size_t row_parts, column_parts, rows, columns;
};

TeamSplit best_split(const Product& q, size_t team) {
  TeamSplit best = {1, 1, q.m, q.n};
  double best_cost = 0;
  for (size_t row_parts = 1; row_parts <= team; ++row_parts) {
    if (team % row_parts) continue;
    const size_t column_parts = team / row_parts;
    const size_t rows = (q.m + row_parts - 1) / row_parts;
    const size_t columns = ((q.n + column_parts - 1) / column_parts + lanes - 1) / lanes * lanes;
    // Multiply-adds of the largest piece, and what its thread packs for itself.
    const double cost =
        static_cast<double>(rows) * static_cast<double>(columns) + 8.0 * static_cast<double>(rows + columns);
    if (best_cost == 0 || cost < best_cost) {
      best_cost = cost;
      best = {row_parts, column_parts, rows, columns};
    }
  }
  return best;
}

void run(const Product& q, Method method) {
  const double work = static_cast<double>(q.m) * static_cast<double>(q.n) * static_cast<double>(q.k);
  const auto team = static_cast<size_t>(threads());
  if (team == 1 || work < parallel_work || inside_share()) {
    method(q);
    return;
  }
  const TeamSplit split = best_split(q, team);
  for_each_share(team, [&](size_t id) {
    const size_t row = id % split.row_parts * split.rows, column = id / split.row_parts * split.columns;
    if (row < q.m && column < q.n)
      method(part(q, row, std::min(split.rows, q.m - row), column, std::min(split.columns, q.n - column)));
  });
}

}  // namespace

Path product_kernels::choose_path(Product& q) {
  if (suits_blas(q) && blas_is_faster(q.m, q.n, q.k)) return Path::blas;
  if (lane_use(q.n) < 0.8 && lane_use(q.m) > lane_use(q.n) + 0.15) q = exchanged(q);
  return suits_dot_products(q) ? Path::dot : suits_streaming(q) ? Path::stream : Path::blocked;
}

void gemm(size_t m, size_t n, size_t k, const real* a, size_t lda, const real* b, size_t ldb, real* c,
          size_t ldc, const GemmOptions& options) {
  Product q = {.m = m,
               .n = n,
               .k = k,
               .a_op = options.a,
               .b_op = options.b,
               .a = a,
               .lda = lda,
               .b = b,
               .ldb = ldb,
               .c = {c, ldc, 1},
               .addend = {}};
  if (options.accumulate)
    q.addend = {c, ldc, 1};
  else if (options.bias)
    q.addend = {options.bias, 0, 1};
  if (m == 0 || n == 0) return;
  if (k == 0) return fill(q);
  const Path path = choose_path(q);
  run(q, method_of(path));
}

}  // namespace lamina
