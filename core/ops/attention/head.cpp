#include "core/ops/attention/head.h"

#include "core/gemm/gathered_tile.h"
#include "core/math/math.h"
#include "core/ops/attention/scores.h"

namespace lamina::attention_head {

using namespace product_kernels;

namespace {

// Purposes of scratch memory.
struct AllKeys;
struct AllValues;
struct OfPanel;
struct OfAllKeys;

/// The rows one after another without gaps.
template <class Purpose>
const real* gathered(const Rows<const real>& from, size_t count, size_t width) {
  real* const rows = scratch<Purpose>(count * width);
  for (size_t t = 0; t < count; ++t) std::copy_n(from[t], width, rows + t * width);
  return rows;
}

/// body(first key, how many) for each block of keys
template <class Body>
void for_each_block(size_t keys, const Body& body) {
  for (size_t j = 0; j < keys; j += block_keys) body(j, std::min(block_keys, keys - j));
}

/// Part of a gradient's row: to = value, or += where `add`
template <class Value>
void add_to(real* to, bool add, size_t count, const Value& value) {
  if (add) {
#pragma omp simd
    for (size_t p = 0; p < count; ++p) to[p] += value(p);
    return;
  }
#pragma omp simd
  for (size_t p = 0; p < count; ++p) to[p] = value(p);
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
  const real* const keys = gathered<AllKeys>(head.k, head.keys, d);
  const real* const values = gathered<AllValues>(head.v, head.keys, d);
  real* const queries = scratch<OfPanel>((2 * d + block_keys) * panel_queries);
  real* const sums = queries + d * panel_queries;
  real* const s = sums + d * panel_queries;
  for (size_t panel = part.index; panel < head.panels(); panel += part.count) {
    pack_transposed(head, panel, head.q, queries);
    scale_panel(queries, d, head.scale);
    Running running = {};
    std::fill_n(sums, d * panel_queries, real{0});
    for_each_block(head.seen_by(panel), [&](size_t j, size_t count) {
      find_scores(head, offsets, {panel, j, count}, keys + j * d, queries, s);
      exponentiate(s, count, j == 0, running);
      if (j > 0)
        for (size_t p = 0; p < d; ++p)
          for_each_query([&, row = sums + p * panel_queries](size_t c) { row[c] *= running.factor[c]; });
      multiply_gathered(d, panel_queries, count, {values + j * d, offsets.numbers(), offsets.rows()}, s, sums,
                        panel_queries, j > 0 ? sums : nullptr, panel_queries);
    });
    const size_t first = panel * panel_queries;
    for (size_t i = 0; i < head.queries_of(panel); ++i) {
      const bool sees_some = running.total[i] != 0;
      softmax.largest[first + i] = sees_some ? running.largest[i] : 0;
      softmax.share[first + i] = sees_some ? 1 / running.total[i] : 0;
    }
    for_each_row_of_transposed(head, panel, sums, [&](size_t i, size_t c, size_t columns, const real* row) {
      real* const to = y[i] + c;
      const real total = running.total[i - first];
#pragma omp simd
      for (size_t p = 0; p < columns; ++p) to[p] = total == 0 ? 0 : row[p] / total;
    });
  }
}

namespace {

/// What the backward pass reads of a panel of queries, and makes for it.
struct PanelOfQueries {
  real *queries, *dy;          ///< [d x panel]: scale Q^T, and dY^T
  real* dq;                    ///< [d x panel]: dQ^T / scale
  real *query_rows, *dy_rows;  ///< [panel x d], packed: Q and dY
  real *largest, *share;       ///< [panel]: the softmax's
  real* inner;                 ///< [panel]: sum_j p_ij dp_ij

  static size_t size(size_t d) { return (3 * d + 2 * packed_columns(d) + 3) * panel_queries; }
  PanelOfQueries(real* memory, size_t d)
      : queries(memory),
        dy(queries + d * panel_queries),
        dq(dy + d * panel_queries),
        query_rows(dq + d * panel_queries),
        dy_rows(query_rows + packed_columns(d) * panel_queries),
        largest(dy_rows + packed_columns(d) * panel_queries),
        share(largest + panel_queries),
        inner(share + panel_queries) {}
};

/// [d x panel] -> [panel x d], packed.
void transpose_panel(const real* x, size_t d, real* to) {
  for (size_t c = 0; c < d; c += panel_columns, to += panel_columns * panel_queries)
    pack_panel(Transpose::yes, panel_queries, std::min(panel_columns, d - c), x + c * panel_queries,
               panel_queries, to);
}

void prepare(const Head& head, size_t panel, const Rows<const real>& dy, const Softmax& softmax,
             const PanelOfQueries& to) {
  const size_t d = head.width, first = panel * panel_queries, count = head.queries_of(panel);
  std::fill_n(to.largest, 3 * panel_queries, real{0});
  std::copy_n(softmax.largest + first, count, to.largest);
  std::copy_n(softmax.share + first, count, to.share);
  pack_transposed(head, panel, head.q, to.queries);
  transpose_panel(to.queries, d, to.query_rows);
  scale_panel(to.queries, d, head.scale);
  pack_transposed(head, panel, dy, to.dy);
  transpose_panel(to.dy, d, to.dy_rows);
  std::fill_n(to.dq, d * panel_queries, real{0});
}

/// s -> p = e^(s - largest) share, and their part of inner = sum_j p_ij dp_ij.
void find_shares(const PanelOfQueries& of, size_t keys, real* s, const real* dp) {
  add_in_parts(keys, of.inner, [&](size_t j, real* inner) {
    for_each_query([&, p_j = s + j * panel_queries, dp_j = dp + j * panel_queries](size_t c) {
      p_j[c] = scalar::exp_up_to_zero(p_j[c] - of.largest[c]) * of.share[c];
      inner[c] += p_j[c] * dp_j[c];
    });
  });
}

/// dp -> ds = p (dp - inner)
void find_scores_gradient(const PanelOfQueries& of, size_t keys, const real* p, real* dp) {
  for (size_t j = 0; j < keys; ++j, p += panel_queries, dp += panel_queries)
    for_each_query([&](size_t c) { dp[c] = p[c] * (dp[c] - of.inner[c]); });
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

}  // namespace

/// For each panel of queries, first with one block of keys after another
///
///   dp_ij = dy_i . v_j,   inner_i = sum_j p_ij dp_ij
///
/// and then again, from what is kept of all keys that the panel sees:
///
///   ds_ij = p_ij (dp_ij - inner_i),   dV_j += p_ij dy_i,   dK_j += scale ds_ij q_i,   dQ_i = scale sum_j ds_ij k_j
///
/// (inner_i is dy_i . y_i as well, which needs nothing kept. But where one p is nearly 1, that differs from its dp by
/// rounding alone, and ds would be noise.)
void backward(const Head& head, const Offsets& offsets, const Part& part, const Rows<const real>& dy,
              const Softmax& softmax, real* keys_gradients, const GradientRows& dq) {
  const size_t d = head.width, whole = packed_columns(d);
  std::fill_n(keys_gradients, keys_gradients_size(head.keys, d), real{0});
  real *const dk = keys_gradients, *const dv = dk + head.keys * whole;
  const real* const keys = gathered<AllKeys>(head.k, head.keys, d);
  const real* const values = gathered<AllValues>(head.v, head.keys, d);
  const PanelOfQueries of(scratch<OfPanel>(PanelOfQueries::size(d)), d);
  real* const p = scratch<OfAllKeys>(2 * head.keys * panel_queries);
  real* const dp = p + head.keys * panel_queries;
  for (size_t panel = part.index; panel < head.panels(); panel += part.count) {
    prepare(head, panel, dy, softmax, of);
    const size_t queries = head.queries_of(panel), seen = head.seen_by(panel);
    for_each_block(seen, [&](size_t j, size_t count) {
      real *const p_j = p + j * panel_queries, *const dp_j = dp + j * panel_queries;
      find_scores(head, offsets, {panel, j, count}, keys + j * d, of.queries, p_j);
      multiply_gathered(count, panel_queries, d, {values + j * d, offsets.rows(), offsets.numbers()}, of.dy,
                        dp_j, panel_queries, nullptr, 0);
      find_shares(of, count, p_j, dp_j);
    });
    for_each_block(seen, [&](size_t j, size_t count) {
      real *const p_j = p + j * panel_queries, *const ds_j = dp + j * panel_queries;
      find_scores_gradient(of, count, p_j, ds_j);
      add_product(offsets, p_j, count, queries, of.dy_rows, d, dv + j * whole);
      add_product(offsets, ds_j, count, queries, of.query_rows, d, dk + j * whole);
      multiply_gathered(d, panel_queries, count, {keys + j * d, offsets.numbers(), offsets.rows()}, ds_j,
                        of.dq, panel_queries, of.dq, panel_queries);
    });
    for_each_row_of_transposed(head, panel, of.dq, [&](size_t i, size_t c, size_t columns, const real* row) {
      add_to(dq.rows[i] + c, dq.add, columns, [&](size_t k) { return row[k] * head.scale; });
    });
  }
}

void finish_keys_gradients(const Head& head, real* contributions, size_t parts, const GradientRows& dk,
                           const GradientRows& dv) {
  const size_t d = head.width, whole = packed_columns(d), size = keys_gradients_size(head.keys, d);
  for (size_t part = 1; part < parts; ++part)
#pragma omp simd
    for (size_t i = 0; i < size; ++i) contributions[i] += contributions[part * size + i];
  const real *of_key = contributions, *of_value = of_key + head.keys * whole;
  for (size_t j = 0; j < head.keys; ++j, of_key += whole, of_value += whole) {
    add_to(dk.rows[j], dk.add, d, [=, scale = head.scale](size_t p) { return of_key[p] * scale; });
    add_to(dv.rows[j], dv.add, d, [=](size_t p) { return of_value[p]; });
  }
  for (size_t j = head.keys; j < head.all_keys; ++j) {
    add_to(dk.rows[j], dk.add, d, [](size_t) { return real{0}; });
    add_to(dv.rows[j], dv.add, d, [](size_t) { return real{0}; });
  }
}

}  // namespace lamina::attention_head
