#pragma once
// One head of attention for one case, on one thread: forward and backward in blocks of queries and keys.
//
//   S = scale Q K^T + mask,   P = softmax of the rows of S,   Y = P V

#include <algorithm>

#include "core/gemm/kernel.h"
#include "core/memory/cached_vector.h"
#include "core/ops/attention/rows.h"

namespace lamina::attention_head {

/// Queries that are computed together, see scores.h.
inline constexpr size_t panel_queries = product_kernels::panel_columns;
inline size_t panels_of(size_t queries) { return (queries + panel_queries - 1) / panel_queries; }

/// Keys that meet a panel at once: their scores stay in L1.
inline constexpr size_t block_keys = 128;

struct Head {
  size_t queries;   ///< Tq
  size_t keys;      ///< how many are real; the others are not read
  size_t all_keys;  ///< Tk
  size_t width;     ///< d
  real scale;
  Rows<const real> q, k, v;
  bool causal;
  Rows<const real> mask;  ///< [Tq x Tk]; its data may be null

  /// How many keys query i sees, as far as the mask allows: causal ones end with number i + Tk - Tq.
  size_t seen(size_t i) const {
    if (!causal) return keys;
    const size_t end = i + 1 + all_keys;
    return end > queries ? std::min(keys, end - queries) : 0;
  }
  size_t panels() const { return panels_of(queries); }
  /// Queries of a panel: the last one may have fewer.
  size_t queries_of(size_t panel) const { return std::min(panel_queries, queries - panel * panel_queries); }
  /// How many keys any query of a panel sees.
  size_t seen_by(size_t panel) const { return seen(panel * panel_queries + queries_of(panel) - 1); }
};

/// What the backward pass needs of the softmax of query i: p_ij = e^(s_ij - largest[i]) share[i], where
/// `share` is 1 over the sum of the exponentials. Two numbers, because one logarithm of both would lose digits where scores
/// are large. For a query that sees nothing both are 0.
struct Softmax {
  real *largest, *share;
};

/// One of several parts of a head: every `count`-th of its panels.
struct Part {
  size_t index = 0, count = 1;
};

/// Where the elements of a matrix lie from which a product is computed in place (core/gemm/gathered_tile.h); the same
/// for all heads of a width.
class Offsets {
 public:
  explicit Offsets(size_t width);
  const size_t* numbers() const { return all_.data(); }           ///< i
  const size_t* rows() const { return all_.data() + rows_; }      ///< i width
  const size_t* panels() const { return all_.data() + panels_; }  ///< i panel_queries

 private:
  CachedVector<size_t> all_;
  size_t rows_, panels_;
};

/// Y and the softmax of the part's queries.
void forward(const Head& head, const Offsets& offsets, const Part& part, const Rows<real>& y,
             const Softmax& softmax);

/// A gradient's rows: written, or added to where `add`.
struct GradientRows {
  Rows<real> rows;
  bool add;
};

/// The columns that rows of a head take in packed panels.
inline size_t packed_columns(size_t width) {
  return (width + product_kernels::panel_columns - 1) / product_kernels::panel_columns *
         product_kernels::panel_columns;
}

/// The size of `keys_gradients` below.
inline size_t keys_gradients_size(size_t keys, size_t width) { return 2 * keys * packed_columns(width); }

/// dQ of the part's queries, and what they contribute to dK and dV, as finish_keys_gradients() needs it.
void backward(const Head& head, const Offsets& offsets, const Part& part, const Rows<const real>& dy,
              const Softmax& softmax, real* keys_gradients, const GradientRows& dq);

/// dK and dV: the sums of what `parts` parts have contributed, one after the other in memory, which is used up; zeros for
/// keys that are not real.
void finish_keys_gradients(const Head& head, real* contributions, size_t parts, const GradientRows& dk,
                           const GradientRows& dv);

}  // namespace lamina::attention_head
