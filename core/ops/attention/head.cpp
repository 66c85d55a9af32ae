#include "core/ops/attention/head.h"

#include "core/gemm/gathered_tile.h"
#include "core/math/math.h"
#include "core/ops/attention/scores.h"

namespace lamina::attention_head {

using namespace kernels;

namespace {

// Purposes of scratch memory.
struct AllKeys;
struct AllValues;
struct OfPanel;
struct OfBlock;
struct AllQueries;

/// Rows one after another without gaps.
void copy_rows(const Rows<const real>& from, size_t first, size_t count, size_t width, real* to) {
  for (size_t t = 0; t < count; ++t, to += width) std::copy_n(from[first + t], width, to);
}

/// [d x panel]: the transpose of the rows of a panel's queries, zeros where it has fewer.
void pack_transposed(const Head& head, size_t panel, const Rows<const real>& from, real* to) {
  pack_panel(Transpose::yes, head.width, head.queries_of(panel), from[panel * panel_queries], from.stride,
             to);
}

void scale_panel(real* x, size_t width, real factor) {
  for (size_t i = 0; i < width * panel_queries; ++i) x[i] *= factor;
}

/// to(i, c, columns, row) for each of a panel's queries i, where `row` holds numbers c to c + columns of row i of the
/// transpose of x [d x panel].
template <class To>
void for_each_row_of_transposed(const Head& head, size_t panel, const real* x, const To& to) {
  alignas(64) real rows[panel_queries * panel_columns];
  for (size_t c = 0; c < head.width; c += panel_columns) {
    const size_t columns = std::min(panel_columns, head.width - c);
    pack_panel(Transpose::yes, panel_queries, columns, x + c * panel_queries, panel_queries, rows);
    for (size_t i = 0; i < head.queries_of(panel); ++i)
      to(panel * panel_queries + i, c, columns, rows + i * panel_columns);
  }
}

}  // namespace

Offsets::Offsets(size_t width)
    : rows_(std::max({width, panel_queries, block_keys})), panels_(rows_ + block_keys) {
  all_.resize(panels_ + block_keys);
  for (size_t i = 0; i < rows_; ++i) all_[i] = i;
  for (size_t j = 0; j < block_keys; ++j) {
    all_[rows_ + j] = j * width;
    all_[panels_ + j] = j * panel_queries;
  }
}

/// For each panel of queries: y = sum_j e_j v_j / sum_j e_j, block of keys after block. When a block raises the largest
/// score, all that was summed before is multiplied by e^(largest before - largest now).
void forward(const Head& head, const Offsets& offsets, const Part& part, const Rows<real>& y,
             const Softmax& softmax) {
  const size_t d = head.width;
  real* const keys = scratch<AllKeys>(head.keys * d);
  real* const values = scratch<AllValues>(head.keys * d);
  copy_rows(head.k, 0, head.keys, d, keys);
  copy_rows(head.v, 0, head.keys, d, values);
  real* const queries = scratch<OfPanel>((2 * d + block_keys) * panel_queries);
  real* const sums = queries + d * panel_queries;
  real* const s = sums + d * panel_queries;
  for (size_t panel = part.index; panel < head.panels(); panel += part.count) {
    pack_transposed(head, panel, head.q, queries);
    scale_panel(queries, d, head.scale);
    Running running = {};
    std::fill_n(sums, d * panel_queries, real{0});
    const size_t seen = head.seen_by(panel);
    for (size_t j = 0; j < seen; j += block_keys) {
      const Block block = {panel, j, std::min(block_keys, seen - j)};
      find_scores(head, offsets, block, keys + j * d, queries, s);
      exponentiate(s, block.keys, j == 0, running);
      if (j > 0)
        for (size_t p = 0; p < d; ++p)
          for_each_query([&, row = sums + p * panel_queries](size_t c) { row[c] *= running.factor[c]; });
      multiply_gathered(d, panel_queries, block.keys, {values + j * d, offsets.numbers(), offsets.rows()}, s,
                        sums, panel_queries, j > 0 ? sums : nullptr, panel_queries);
    }
    alignas(64) real share[panel_queries];
    for_each_query([&](size_t c) { share[c] = running.total[c] == 0 ? 0 : 1 / running.total[c]; });
    const size_t first = panel * panel_queries;
    for (size_t i = 0; i < head.queries_of(panel); ++i) {
      softmax.largest[first + i] = share[i] == 0 ? 0 : running.largest[i];
      softmax.share[first + i] = share[i];
    }
    for_each_row_of_transposed(head, panel, sums, [&](size_t i, size_t c, size_t columns, const real* row) {
      real* const to = y[i] + c;
      const real factor = softmax.share[i];
#pragma omp simd
      for (size_t p = 0; p < columns; ++p) to[p] = factor == 0 ? 0 : row[p] * factor;
    });
  }
}

namespace {

size_t packed_columns(size_t width) { return (width + panel_columns - 1) / panel_columns * panel_columns; }

/// What the backward pass reads of a panel of queries. The softmax's `share` is part of dY.
struct PanelOfQueries {
  real *queries, *dy;          ///< [d x panel]: scale Q^T, and dY^T
  real *query_rows, *dy_rows;  ///< [panel x d], packed: Q and dY
  real *largest, *inner;       ///< [panel]: the softmax's, and dy . y

  static size_t size(size_t d) { return (2 * d + 2 * packed_columns(d) + 2) * panel_queries; }
  PanelOfQueries(real* memory, size_t d)
      : queries(memory),
        dy(queries + d * panel_queries),
        query_rows(dy + d * panel_queries),
        dy_rows(query_rows + packed_columns(d) * panel_queries),
        largest(dy_rows + packed_columns(d) * panel_queries),
        inner(largest + panel_queries) {}
};

/// [d x panel] -> [panel x d], packed.
void transpose_panel(const real* x, size_t d, real* to) {
  for (size_t c = 0; c < d; c += panel_columns, to += panel_columns * panel_queries)
    pack_panel(Transpose::yes, panel_queries, std::min(panel_columns, d - c), x + c * panel_queries,
               panel_queries, to);
}

void prepare(const Head& head, size_t panel, const Rows<const real>& y, const Rows<const real>& dy,
             const Softmax& softmax, const PanelOfQueries& to) {
  const size_t d = head.width, first = panel * panel_queries, count = head.queries_of(panel);
  alignas(64) real share[panel_queries] = {};
  std::copy_n(softmax.share + first, count, share);
  std::fill(std::copy_n(softmax.largest + first, count, to.largest), to.largest + panel_queries, real{0});
  std::fill_n(to.inner, panel_queries, real{0});
  for (size_t i = 0; i < count; ++i) {
    const real *const out = y[first + i], *const dout = dy[first + i];
    real inner = 0;
#pragma omp simd reduction(+ : inner)
    for (size_t p = 0; p < d; ++p) inner += out[p] * dout[p];
    to.inner[i] = inner * share[i];
  }
  pack_transposed(head, panel, head.q, to.queries);
  transpose_panel(to.queries, d, to.query_rows);
  scale_panel(to.queries, d, head.scale);
  pack_transposed(head, panel, dy, to.dy);
  for (size_t p = 0; p < d; ++p)
    for_each_query([&, row = to.dy + p * panel_queries](size_t c) { row[c] *= share[c]; });
  transpose_panel(to.dy, d, to.dy_rows);
}

/// sums [keys x d] += x rows, where x is [keys x panel] and `rows` [panel x d] packed, of so many queries.
void add_product(const Offsets& offsets, const real* x, size_t keys, size_t queries, const real* rows,
                 size_t d, real* sums) {
  for (size_t c = 0; c < d; c += panel_columns, rows += panel_columns * panel_queries) {
    const size_t columns = (std::min(panel_columns, d - c) + lanes - 1) / lanes * lanes;
    multiply_gathered(keys, columns, queries, {x, offsets.panels(), offsets.numbers()}, rows, sums + c,
                      packed_columns(d), sums + c, packed_columns(d));
  }
}

/// The gradient of rows `first` and following: factor from
void write_rows(const GradientRows& to, size_t first, size_t count, const real* from, size_t d, real factor) {
  for (size_t j = 0; j < count; ++j, from += packed_columns(d)) {
    real* const row = to.rows[first + j];
#pragma omp simd
    for (size_t p = 0; p < d; ++p) row[p] = (to.add ? row[p] : 0) + from[p] * factor;
  }
}

/// The gradient of rows that were not read.
void write_zeros(const GradientRows& to, size_t begin, size_t end, size_t d) {
  if (to.add) return;
  for (size_t j = begin; j < end; ++j) std::fill_n(to.rows[j], d, real{0});
}

}  // namespace

/// For each block of keys, panel of queries after panel:
///
///   dV_j += sum_i p_ij dy_i,   ds_ij = p_ij (dy_i . v_j - dy_i . y_i),
///   dK_j += scale sum_i ds_ij q_i,   dQ_i += scale sum_j ds_ij k_j
void backward(const Head& head, const Offsets& offsets, const Part& part, const Rows<const real>& y,
              const Rows<const real>& dy, const Softmax& softmax, real* queries_gradient,
              const GradientRows& dk, const GradientRows& dv) {
  const size_t d = head.width;
  std::fill_n(queries_gradient, queries_gradient_size(head.queries, d), real{0});
  real* const prepared = scratch<AllQueries>(head.panels() * PanelOfQueries::size(d));
  const auto panel_at = [&](size_t panel) {
    return PanelOfQueries(prepared + panel * PanelOfQueries::size(d), d);
  };
  for (size_t panel = 0; panel < head.panels(); ++panel)
    prepare(head, panel, y, dy, softmax, panel_at(panel));
  real* const keys = scratch<OfBlock>(2 * block_keys * (d + panel_queries + packed_columns(d)));
  real* const values = keys + block_keys * d;
  real* const s = values + block_keys * d;
  real* const ds = s + block_keys * panel_queries;
  real* const key_sums = ds + block_keys * panel_queries;
  real* const value_sums = key_sums + block_keys * packed_columns(d);
  for (size_t first = part.index * block_keys; first < head.keys; first += part.count * block_keys) {
    const size_t in_block = std::min(block_keys, head.keys - first);
    copy_rows(head.k, first, in_block, d, keys);
    copy_rows(head.v, first, in_block, d, values);
    std::fill_n(key_sums, in_block * packed_columns(d), real{0});
    std::fill_n(value_sums, in_block * packed_columns(d), real{0});
    for (size_t panel = 0; panel < head.panels(); ++panel) {
      if (head.seen_by(panel) <= first) continue;
      const size_t count = std::min(in_block, head.seen_by(panel) - first), queries = head.queries_of(panel);
      const PanelOfQueries of = panel_at(panel);
      find_scores(head, offsets, {panel, first, count}, keys, of.queries, s);
      multiply_gathered(count, panel_queries, d, {values, offsets.rows(), offsets.numbers()}, of.dy, ds,
                        panel_queries, nullptr, 0);
      for (size_t j = 0; j < count; ++j) {
        for_each_query([&, e = s + j * panel_queries, g = ds + j * panel_queries](size_t c) {
          e[c] = scalar::exp_up_to_zero(e[c] - of.largest[c]);
          g[c] = e[c] * (g[c] - of.inner[c]);
        });
      }
      add_product(offsets, s, count, queries, of.dy_rows, d, value_sums);
      add_product(offsets, ds, count, queries, of.query_rows, d, key_sums);
      real* const dq = queries_gradient + panel * d * panel_queries;
      multiply_gathered(d, panel_queries, count, {keys, offsets.numbers(), offsets.rows()}, ds, dq,
                        panel_queries, dq, panel_queries);
    }
    write_rows(dk, first, in_block, key_sums, d, head.scale);
    write_rows(dv, first, in_block, value_sums, d, 1);
  }
  if (part.index == 0) {
    write_zeros(dk, head.keys, head.all_keys, d);
    write_zeros(dv, head.keys, head.all_keys, d);
  }
}

void finish_queries_gradient(const Head& head, const real* contributions, size_t parts,
                             const GradientRows& dq) {
  const size_t d = head.width, size = queries_gradient_size(head.queries, d);
  real* const sum = scratch<OfPanel>(d * panel_queries);
  for (size_t panel = 0; panel < head.panels(); ++panel) {
    const real* const from = contributions + panel * d * panel_queries;
    for (size_t i = 0; i < d * panel_queries; ++i) {
      real total = from[i];
      for (size_t k = 1; k < parts; ++k) total += from[k * size + i];
      sum[i] = total * head.scale;
    }
    for_each_row_of_transposed(head, panel, sum, [&](size_t i, size_t c, size_t columns, const real* row) {
      real* const to = dq.rows[i] + c;
#pragma omp simd
      for (size_t p = 0; p < columns; ++p) to[p] = (dq.add ? to[p] : 0) + row[p];
    });
  }
}

}  // namespace lamina::attention_head
