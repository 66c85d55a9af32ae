#include "core/gemm/gathered_tile.h"

#include <algorithm>
#include <array>
#include <utility>

namespace lamina::product_kernels {

namespace {

struct GatheredTile {
  size_t k;
  Gathered a;
  const real* b;
  real* c;
  size_t c_row;
  const real* addend;
  size_t addend_row;
};

/// As in core/gemm/kernel.cpp: rows x vectors sums in registers, here with a read through its offsets.
template <size_t rows, size_t vectors>
void tile(const GatheredTile& t) {
  alignas(64) real aside[rows * vectors * lanes];
  real* const before = in_memory(aside);  // the sum of the parts before this one
  const real* row[rows];
#pragma GCC unroll 16
  for (size_t i = 0; i < rows; ++i) row[i] = t.a.data + t.a.row[i];
  const size_t* step = t.a.step;
  const real* b = t.b;
  const size_t* const end_of_k = step + t.k;
  const auto part = static_cast<std::ptrdiff_t>(part_of_sum(t.k));
  for (bool first = true;; first = false) {
    const bool last = end_of_k - step <= part;
    const size_t* const end = last ? end_of_k : step + part;
    vec sum[rows][vectors] = {};
    for (; step < end; ++step, b += panel_columns) {
      const size_t at = *step;
      vec right[vectors];
#pragma GCC unroll 16
      for (size_t v = 0; v < vectors; ++v) {
        vec x = load(b + v * lanes);
        if (v < held_of_row<rows, vectors>) hold(x);
        right[v] = x;
      }
#pragma GCC unroll 16
      for (size_t i = 0; i < rows; ++i) {
        const vec x = splat(row[i][at]);
#pragma GCC unroll 16
        for (size_t v = 0; v < vectors; ++v) sum[i][v] += x * right[v];
      }
    }
    if (!first) add_parts_before(sum, before);
    if (last) return store_sums(sum, t.c, t.c_row, t.addend, t.addend_row);
    put_aside(sum, before);
  }
}

using Kernel = void (*)(const GatheredTile&);
template <size_t... index>
constexpr auto all_kernels(std::index_sequence<index...>) {
  return std::array{std::array<Kernel, 2>{tile<index + 1, 1>, tile<index + 1, 2>}...};
}
constexpr auto kernels = all_kernels(std::make_index_sequence<max_tile_rows>{});

/// A tile narrower than its vectors goes through a buffer.
void narrow_tile(Kernel kernel, GatheredTile t, size_t rows, size_t columns) {
  alignas(64) real buffer[max_tile_rows * panel_columns] = {};
  if (t.addend)
    for (size_t i = 0; i < rows; ++i)
      std::copy_n(t.addend + i * t.addend_row, columns, buffer + i * panel_columns);
  real* const c = std::exchange(t.c, buffer);
  const size_t c_row = std::exchange(t.c_row, panel_columns);
  if (t.addend) t.addend = buffer;
  t.addend_row = panel_columns;
  kernel(t);
  for (size_t i = 0; i < rows; ++i) std::copy_n(buffer + i * panel_columns, columns, c + i * c_row);
}

}  // namespace

void multiply_gathered(size_t rows, size_t columns, size_t k, const Gathered& a, const real* b, real* c,
                       size_t c_row, const real* addend, size_t addend_row) {
  const size_t vectors = (columns + lanes - 1) / lanes;
  const size_t tiles = (rows + max_tile_rows - 1) / max_tile_rows;
  for (size_t i = 0; i < tiles; ++i) {
    const size_t first = rows * i / tiles, height = rows * (i + 1) / tiles - first;
    const GatheredTile t = {k,         {a.data, a.row + first, a.step},
                            b,         c + first * c_row,
                            c_row,     addend ? addend + first * addend_row : nullptr,
                            addend_row};
    const Kernel kernel = kernels[height - 1][vectors - 1];
    if (columns == vectors * lanes)
      kernel(t);
    else
      narrow_tile(kernel, t, height, columns);
  }
}

}  // namespace lamina::product_kernels
