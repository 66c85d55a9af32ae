#include "core/ops/attention/head.h"

#include <cmath>
#include <limits>

#include "core/gemm/gathered_tile.h"
#include "core/math/math.h"

namespace lamina::attention_head {

using namespace kernels;

namespace {

constexpr real infinity = std::numeric_limits<real>::infinity();

// Purposes of scratch memory.
struct Keys;
struct Values;
struct Panel;
struct Blocks;
struct Queries;

/// x[j] = f(x[j]) for the numbers of a panel, as two vectors.
template <class Body>
[[gnu::always_inline]] inline void for_each_query(const Body& body) {
#pragma omp simd
  for (size_t c = 0; c < panel_queries; ++c) body(c);
}

/// Rows one after another without gaps.
void copy_rows(const Rows<const real>& from, size_t first, size_t count, size_t width, real* to) {
  for (size_t t = 0; t < count; ++t, to += width) std::copy_n(from[first + t], width, to);
}

/// The transpose of `count` rows as a panel [width x panel], times `factor` of each; zeros beyond the count.
void pack_transposed(const Rows<const real>& from, size_t first, size_t count, size_t width, real* to) {
  pack_panel(Transpose::yes, width, count, from[first], from.stride, to);
}

/// s = K Q^T for a panel and a block of keys, with what masks hide at -infinity.
void find_scores(const Head& head, const Offsets& offsets, const real* keys, const real* queries,
                 size_t panel, size_t first, size_t count, real* s) {
  multiply_gathered(count, panel_queries, head.width, {keys, offsets.rows(), offsets.numbers()}, queries, s,
                    panel_queries, nullptr, 0);
  const size_t query = panel * panel_queries;
  if (head.mask.data != nullptr) {
    real* const mask = scratch<PanelOfB>(block_keys * panel_queries);
    pack_panel(Transpose::yes, count, head.queries_of(panel), head.mask[query] + first, head.mask.stride,
               mask);
#pragma omp simd
    for (size_t i = 0; i < count * panel_queries; ++i) s[i] += mask[i];
  }
  // The rest of a key's row is hidden from the queries that come too early for it: the first ones of the panel.
  for (size_t j = head.seen(query) > first ? head.seen(query) - first : 0; j < count; ++j) {
    const size_t earliest =
        first + j + head.queries - head.all_keys;  // causal: the first query that sees the key
    std::fill_n(s + j * panel_queries, std::min(panel_queries, earliest - query), -infinity);
  }
}

/// The softmax of a panel as far as its keys have been seen: e^(s - largest) sums to `total`.
struct Running {
  alignas(64) real largest[panel_queries];
  alignas(64) real total[panel_queries];
  alignas(64) real factor[panel_queries];  ///< for what was summed before the last block
};

/// largest = max(largest, s)
void raise_largest(const real* s, size_t count, real* largest) {
  size_t j = 0;
  const auto larger = [](real a, real b) { return a > b ? a : b; };
  for (; j + 4 <= count; j += 4, s += 4 * panel_queries)
    for_each_query([=](size_t c) {
      const real first = larger(s[c], s[c + panel_queries]),
                 second = larger(s[c + 2 * panel_queries], s[c + 3 * panel_queries]);
      largest[c] = larger(larger(first, second), largest[c]);
    });
  for (; j < count; ++j, s += panel_queries)
    for_each_query([=](size_t c) { largest[c] = larger(s[c], largest[c]); });
}

/// Replaces a block of scores by e^(s - largest), where all of them count.
void exponentiate(real* s, size_t count, Running& softmax, bool first) {
  alignas(64) real largest[panel_queries];
  for_each_query([&](size_t c) { largest[c] = first ? -infinity : softmax.largest[c]; });
  raise_largest(s, count, largest);
  for_each_query([&](size_t c) {
    const real shift = largest[c] == -infinity ? 0 : largest[c];
    softmax.factor[c] = first ? 0 : scalar::exp(softmax.largest[c] - shift);
    softmax.total[c] = first ? 0 : softmax.total[c] * softmax.factor[c];
    softmax.largest[c] = largest[c];
    largest[c] = shift;
  });
  alignas(64) real total[panel_queries] = {};
  for (size_t j = 0; j < count; ++j, s += panel_queries)
    for_each_query([&](size_t c) {
      s[c] = scalar::exp(s[c] - largest[c]);
      total[c] += s[c];
    });
  for_each_query([&](size_t c) { softmax.total[c] += total[c]; });
}

/// Rows of a panel that holds them transposed: to(i, row) with the first `count`.
template <class To>
void for_each_row_of_transposed(const real* panel, size_t width, size_t count, const To& to) {
  alignas(64) real rows[panel_queries * panel_columns];
  for (size_t c = 0; c < width; c += panel_columns) {
    const size_t columns = std::min(panel_columns, width - c);
    pack_panel(Transpose::yes, panel_queries, columns, panel + c * panel_queries, panel_queries, rows);
    for (size_t i = 0; i < count; ++i) to(i, c, columns, rows + i * panel_columns);
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

/// For each panel of queries, and block of keys after block, with largest m and total l so far:
///
///   m' = max(m, s_j),  e_j = exp(s_j - m'),  l <- exp(m - m') l + sum e_j,  y <- exp(m - m') y + sum e_j v_j
///
/// and in the end y / l.
void forward(const Head& head, const Offsets& offsets, const Part& part, const Rows<real>& y,
             const Softmax& softmax) {
  const size_t d = head.width;
  real* const keys = scratch<Keys>(head.keys * d);
  real* const values = scratch<Values>(head.keys * d);
  copy_rows(head.k, 0, head.keys, d, keys);
  copy_rows(head.v, 0, head.keys, d, values);
  real* const queries = scratch<Panel>(2 * d * panel_queries + block_keys * panel_queries);
  real* const sums = queries + d * panel_queries;
  real* const s = sums + d * panel_queries;
  for (size_t panel = part.index; panel < head.panels(); panel += part.count) {
    const size_t query = panel * panel_queries, count = head.queries_of(panel), seen = head.seen_by(panel);
    pack_transposed(head.q, query, count, d, queries);
    for (size_t i = 0; i < d * panel_queries; ++i) queries[i] *= head.scale;
    Running running = {};
    if (seen == 0) std::fill_n(sums, d * panel_queries, real{0});
    for (size_t j = 0; j < seen; j += block_keys) {
      const size_t block = std::min(block_keys, seen - j);
      find_scores(head, offsets, keys + j * d, queries, panel, j, block, s);
      exponentiate(s, block, running, j == 0);
      if (j > 0)
        for (size_t p = 0; p < d; ++p)
          for_each_query([&, row = sums + p * panel_queries](size_t c) { row[c] *= running.factor[c]; });
      multiply_gathered(d, panel_queries, block, {values + j * d, offsets.numbers(), offsets.rows()}, s, sums,
                        panel_queries, j > 0 ? sums : nullptr, panel_queries);
    }
    alignas(64) real share[panel_queries];
    for_each_query([&](size_t c) { share[c] = running.total[c] == 0 ? 0 : 1 / running.total[c]; });
    for (size_t i = 0; i < count; ++i) {
      softmax.largest[query + i] = share[i] == 0 ? 0 : running.largest[i];
      softmax.share[query + i] = share[i];
    }
    for_each_row_of_transposed(sums, d, count, [&](size_t i, size_t c, size_t columns, const real* row) {
      real* const to = y[query + i] + c;
      const real factor = share[i];
#pragma omp simd
      for (size_t p = 0; p < columns; ++p) to[p] = factor == 0 ? 0 : row[p] * factor;
    });
  }
}

namespace {

/// Panels side by side hold one row of each of `count` queries, as many columns as a panel has lanes in each.
size_t panels_of_width(size_t width) { return (width + panel_columns - 1) / panel_columns; }

/// What the backward pass reads of one panel of queries.
struct PanelOfQueries {
  real *queries, *dy;          ///< [d x panel]: scale Q^T and dY^T share
  real *query_rows, *dy_rows;  ///< the same, [panel x d] as packed panels
  real *largest, *inner;       ///< [panel]: the softmax's, and dy . y share

  static size_t size(size_t d) {
    return (2 * d + 2 + 2 * panels_of_width(d) * panel_columns) * panel_queries;
  }
  PanelOfQueries(real* memory, size_t d)
      : queries(memory),
        dy(queries + d * panel_queries),
        query_rows(dy + d * panel_queries),
        dy_rows(query_rows + panels_of_width(d) * panel_columns * panel_queries),
        largest(dy_rows + panels_of_width(d) * panel_columns * panel_queries),
        inner(largest + panel_queries) {}
};

/// x [d x panel] -> [panel x d] as packed panels
void transpose_panel(const real* x, size_t d, real* to) {
  for (size_t c = 0; c < d; c += panel_columns, to += panel_columns * panel_queries)
    pack_panel(Transpose::yes, panel_queries, std::min(panel_columns, d - c), x + c * panel_queries,
               panel_queries, to);
}

void prepare_panel(const Head& head, size_t panel, const Rows<const real>& y, const Rows<const real>& dy,
                   const Softmax& softmax, const PanelOfQueries& to) {
  const size_t d = head.width, query = panel * panel_queries, count = head.queries_of(panel);
  alignas(64) real share[panel_queries] = {};
  std::copy_n(softmax.share + query, count, share);
  std::fill_n(to.largest, panel_queries, real{0});
  std::copy_n(softmax.largest + query, count, to.largest);
  for (size_t i = 0; i < panel_queries; ++i) {
    real inner = 0;
    if (i < count) {
      const real *const out = y[query + i], *const dout = dy[query + i];
#pragma omp simd reduction(+ : inner)
      for (size_t p = 0; p < d; ++p) inner += out[p] * dout[p];
    }
    to.inner[i] = inner * share[i];
  }
  pack_transposed(head.q, query, count, d, to.queries);
  pack_transposed(dy, query, count, d, to.dy);
  for (size_t p = 0; p < d; ++p)
    for_each_query([&, q = to.queries + p * panel_queries, g = to.dy + p * panel_queries](size_t c) {
      q[c] *= head.scale;
      g[c] *= share[c];
    });
  transpose_panel(to.queries, d, to.query_rows);
  transpose_panel(to.dy, d, to.dy_rows);
}

/// to [count x d] += x^T rows, where x is [count x panel] and of `queries` queries.
void add_product_with_rows(const Offsets& offsets, const real* x, size_t count, size_t queries,
                           const real* rows, size_t d, real* to) {
  const size_t whole = panels_of_width(d) * panel_columns;
  for (size_t c = 0; c < d; c += panel_columns, rows += panel_columns * panel_queries) {
    const size_t columns = (std::min(panel_columns, d - c) + lanes - 1) / lanes * lanes;
    multiply_gathered(count, columns, queries, {x, offsets.panels(), offsets.numbers()}, rows, to + c, whole,
                      to + c, whole);
  }
}

void write_rows(const GradientRows& to, size_t first, size_t count, const real* from, size_t stride,
                size_t d) {
  for (size_t j = 0; j < count; ++j, from += stride) {
    real* const row = to.rows[first + j];
    if (to.add) {
#pragma omp simd
      for (size_t p = 0; p < d; ++p) row[p] += from[p];
    } else {
      std::copy_n(from, d, row);
    }
  }
}

/// The gradient of rows that were not read.
void write_zeros(const GradientRows& to, size_t begin, size_t end, size_t d) {
  if (to.add) return;
  for (size_t j = begin; j < end; ++j) std::fill_n(to.rows[j], d, real{0});
}

}  // namespace

size_t queries_gradient_size(size_t queries, size_t width) {
  return (queries + panel_queries - 1) / panel_queries * panel_queries * width;
}

/// For each block of keys, and panel of queries after panel, with P' = P / share and D_i = dy_i . y_i:
///
///   dV_j += sum_i p_ij dy_i,   ds_ij = p_ij (dy_i . v_j - D_i),   dK_j += scale sum_i ds_ij q_i,   dQ_i += scale sum_j ds_ij k_j
void backward(const Head& head, const Offsets& offsets, const Part& part, const Rows<const real>& y,
              const Rows<const real>& dy, const Softmax& softmax, real* queries_gradient,
              const GradientRows& dk, const GradientRows& dv) {
  const size_t d = head.width, panels = head.panels(), whole = panels_of_width(d) * panel_columns;
  std::fill_n(queries_gradient, queries_gradient_size(head.queries, head.width), real{0});
  real* const prepared = scratch<Queries>(panels * PanelOfQueries::size(d));
  for (size_t panel = 0; panel < panels; ++panel)
    prepare_panel(head, panel, y, dy, softmax, {prepared + panel * PanelOfQueries::size(d), d});
  real* const keys = scratch<Blocks>(block_keys * (2 * d + 2 * whole + 2 * panel_queries));
  real* const values = keys + block_keys * d;
  real* const s = values + block_keys * d;
  real* const ds = s + block_keys * panel_queries;
  real* const key_sums = ds + block_keys * panel_queries;
  real* const value_sums = key_sums + block_keys * whole;
  for (size_t first = part.index * block_keys; first < head.keys; first += part.count * block_keys) {
    const size_t block = std::min(block_keys, head.keys - first);
    copy_rows(head.k, first, block, d, keys);
    copy_rows(head.v, first, block, d, values);
    std::fill_n(key_sums, 2 * block_keys * whole, real{0});
    for (size_t panel = 0; panel < panels; ++panel) {
      if (head.seen_by(panel) <= first) continue;
      const size_t count = std::min(block, head.seen_by(panel) - first), queries = head.queries_of(panel);
      const PanelOfQueries of(prepared + panel * PanelOfQueries::size(d), d);
      find_scores(head, offsets, keys, of.queries, panel, first, count, s);
      multiply_gathered(count, panel_queries, d, {values, offsets.rows(), offsets.numbers()}, of.dy, ds,
                        panel_queries, nullptr, 0);
      for (size_t j = 0; j < count; ++j)
        for_each_query([&, e = s + j * panel_queries, g = ds + j * panel_queries](size_t c) {
          e[c] = scalar::exp(e[c] - of.largest[c]);
          g[c] = e[c] * (g[c] - of.inner[c]);
        });
      add_product_with_rows(offsets, s, count, queries, of.dy_rows, d, value_sums);
      add_product_with_rows(offsets, ds, count, queries, of.query_rows, d, key_sums);
      real* const dq = queries_gradient + panel * d * panel_queries;
      multiply_gathered(d, panel_queries, count, {keys, offsets.numbers(), offsets.rows()}, ds, dq,
                        panel_queries, dq, panel_queries);
    }
    write_rows(dk, first, block, key_sums, whole, d);
    write_rows(dv, first, block, value_sums, whole, d);
  }
  if (part.index == 0) {
    write_zeros(dk, head.keys, head.all_keys, d);
    write_zeros(dv, head.keys, head.all_keys, d);
  }
}

void finish_queries_gradient(const Head& head, const real* contributions, size_t parts,
                             const GradientRows& dq) {
  const size_t d = head.width, size = queries_gradient_size(head.queries, head.width);
  real* const sum = scratch<Panel>(d * panel_queries);
  for (size_t panel = 0; panel < head.panels(); ++panel) {
    const real* const from = contributions + panel * d * panel_queries;
    for (size_t i = 0; i < d * panel_queries; ++i) {
      real total = from[i];
      for (size_t k = 1; k < parts; ++k) total += from[k * size + i];
      sum[i] = total * head.scale;
    }
    for_each_row_of_transposed(sum, d, head.queries_of(panel),
                               [&](size_t i, size_t c, size_t columns, const real* row) {
                                 real* const to = dq.rows[panel * panel_queries + i] + c;
#pragma omp simd
                                 for (size_t p = 0; p < columns; ++p) to[p] = (dq.add ? to[p] : 0) + row[p];
                               });
  }
}

}  // namespace lamina::attention_head
