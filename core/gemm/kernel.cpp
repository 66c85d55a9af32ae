// The register tile, the heart of every matrix product.
//
//   c[rows x vectors] += a[rows x 1] * b[1 x vectors]        once for every p < k
//
// A CPU can start two multiply-adds per cycle but load only two vectors per cycle, so a product that fetches
// its operands for every multiply-add runs at half speed or less. A tile of c kept in registers fixes that:
// with 14 rows of 2 vectors (28 of the 32 registers of AVX-512), 2 vectors of b and 14 numbers of a serve 28
// multiply-adds.
//
//             b0  b1          the two vectors of b: one row of a panel
//        a0   c    c
//        a1   c    c          every number of a meets every vector of b
//        ...
//        a13  c    c
//
// The sums are independent of each other, which also hides the 4 cycles that one multiply-add takes.
// Every number of rows from 1 to 14 has its own kernel, compiled from the one template below, so that m is
// cut into tiles of nearly equal height and never leaves a slow remainder.

#include "core/gemm/kernel.h"

#include <algorithm>
#include <array>

namespace lamina::product_kernels {

namespace {
/// Rows of b to prefetch: enough to hide the latency of L2, few enough not to evict each other when their
/// stride is a power of two. The next panel is prefetched into L2 a whole panel ahead.
constexpr size_t rows_ahead = 8;
/// One prefetch loads a cache line: at 256 bits a whole row of a panel.
constexpr size_t vectors_in_line = vector_bytes >= 64 ? 1 : 2;

/// Steps of k per unrolled iteration, as g++ 12 made them fastest (Zen 3, AVX2): with 3 tiles in L1 reach 96 to 99% of the
/// peak in build/bench_product, with 4 it was 88 to 91%, since sums went to the stack, as those of tiles of 4 vectors do with
/// more than 1. With 512 bits no gain was seen.
template <size_t vectors, Source source>
constexpr size_t steps_at_once = vector_registers == 32 || vectors > 2 ? 1
                                 : source == Source::keep              ? 4
                                                                       : 3;

/// Where the next step reads a and b, and keeps b.
struct Place {
  const real* a;
  const real* b;
  real* kept;
};

/// sum += a * b over the next `steps` of k.
template <Source source, size_t rows, size_t vectors>
[[gnu::always_inline]] inline void add_products(vec (&sum)[rows][vectors], const Tile& t, Place& place,
                                                size_t steps) {
  const size_t b_row = t.b_row, b_panel = t.b_panel;
  const real* a = place.a;
  const real* b = place.b;
  [[maybe_unused]] real* kept = place.kept;
  [[maybe_unused]] const size_t next = t.next;
  const auto step = [&]() __attribute__((always_inline)) {
    vec row[vectors];
#pragma GCC unroll 16
    for (size_t v = 0; v < vectors; ++v) {
      vec x = load(b + v / 2 * b_panel + v % 2 * lanes);
      if (v < held_of_row<rows, vectors>) hold(x);
      row[v] = x;
    }
    if constexpr (source != Source::cache) {
#pragma GCC unroll 16
      for (size_t v = 0; v < vectors; v += vectors_in_line) {
        const real* const soon = b + v / 2 * b_panel + v % 2 * lanes;
        __builtin_prefetch(soon + rows_ahead * b_row);
        __builtin_prefetch(soon + next, 0, 2);
      }
    }
    if constexpr (source == Source::keep) {
#pragma GCC unroll 16
      for (size_t v = 0; v < vectors; ++v) store(kept + v * lanes, row[v]);
      kept += panel_columns;
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < rows; ++i) {
      const vec x = splat(a[i]);
#pragma GCC unroll 16
      for (size_t v = 0; v < vectors; ++v) sum[i][v] += x * row[v];
    }
    a += rows;
    b += b_row;
  };
  constexpr size_t at_once = steps_at_once<vectors, source>;
  for (; steps >= at_once; steps -= at_once) {
#pragma GCC unroll 16
    for (size_t i = 0; i < at_once; ++i) step();
  }
  for (; steps > 0; --steps) step();
  place = {a, b, kept};
}

/// A tile with a long k, whose sums restart for every part of it. A separate function, so that short ones pay
/// nothing.
template <size_t rows, size_t vectors, Source source>
[[gnu::noinline]] void tile_in_parts(const Tile& t) {
  alignas(64) real aside[rows * vectors * lanes];
  real* const before = in_memory(aside);  // the sum of the parts before this one
  const size_t part = part_of_sum(t.k);
  Place place = {t.a, t.b, t.kept};
  for (size_t left = t.k;; left -= part) {
    vec sum[rows][vectors] = {};
    add_products<source>(sum, t, place, std::min(left, part));
    if (left < t.k) add_parts_before(sum, before);
    if (left <= part) return store_sums(sum, t.c, t.c_row, t.addend, t.addend_row);
    put_aside(sum, before);
  }
}

template <size_t rows, size_t vectors, Source source>
void tile(const Tile& t) {
#pragma GCC unroll 16
  for (size_t i = 0; i < rows; ++i) __builtin_prefetch(t.c + i * t.c_row, 1);
  if (t.k > longest_part) return tile_in_parts<rows, vectors, source>(t);
  Place place = {t.a, t.b, t.kept};
  vec sum[rows][vectors] = {};
  add_products<source>(sum, t, place, t.k);
  store_sums(sum, t.c, t.c_row, t.addend, t.addend_row);
}

/// For 1, 2, 4 and 8 vectors.
using KernelsOfRow = std::array<TileKernel, 4>;

template <size_t rows, Source source>
constexpr KernelsOfRow kernels_of() {
  if constexpr (source == Source::keep) {
    return {nullptr, tile<rows, 2, source>, nullptr, nullptr};
  } else {
    KernelsOfRow kernels = {tile<rows, 1, source>, tile<rows, 2, source>, nullptr, nullptr};
    if constexpr (widest_tile(rows) >= 4) kernels[2] = tile<rows, 4, source>;
    if constexpr (widest_tile(rows) >= 8) kernels[3] = tile<rows, 8, source>;
    return kernels;
  }
}

template <Source source, size_t... index>
constexpr auto all_kernels(std::index_sequence<index...>) {
  return std::array{kernels_of<index + 1, source>()...};
}

template <Source source>
constexpr auto kernels = all_kernels<source>(std::make_index_sequence<max_tile_rows>{});

}  // namespace

TileKernel tile_kernel(size_t rows, size_t vectors, Source source) {
  const auto& all = source == Source::cache    ? kernels<Source::cache>
                    : source == Source::memory ? kernels<Source::memory>
                                               : kernels<Source::keep>;
  return all[rows - 1][vectors == 8 ? 3 : vectors / 2];
}

}  // namespace lamina::product_kernels
