#pragma once
// The scores of a panel of queries and their softmax, block of keys after block.
//
// As many queries as two vectors have lanes form a panel; each lane is one query. The scores of a panel are computed
// transposed, [keys x panel]: the maximum and the sum over the keys, which a softmax needs, are then plain operations on
// vectors, and the same matrix is, as it stands, the packed operand of the next product (core/gemm/kernel.h).

#include "core/gemm/kernel.h"
#include "core/memory/cached_vector.h"
#include "core/ops/attention/head.h"

namespace lamina::attention_head {

/// body(c) for each query of a panel: two vectors.
template <class Body>
[[gnu::always_inline]] inline void for_each_query(const Body& body) {
#pragma omp simd
  for (size_t c = 0; c < panel_queries; ++c) body(c);
}

/// add(j, part) for each of the keys: it adds a number of each query to `part`. Parts of 16 keys are summed apart, because
/// rounding grows with the length of a sum.
template <class Add>
[[gnu::always_inline]] inline void add_in_parts(size_t keys, real* total, const Add& add) {
  constexpr size_t at_once = 16;
  for (size_t j = 0; j < keys; j += at_once) {
    alignas(64) real part[panel_queries] = {};
    for (size_t i = j; i < std::min(j + at_once, keys); ++i) add(i, part);
    for_each_query([&](size_t c) { total[c] += part[c]; });
  }
}

/// Some keys after another, and a panel of queries.
struct Block {
  size_t panel, first_key, keys;
};

/// s [keys x panel] = K Q^T, -infinity where a key is hidden. `keys` are the block's, one after the other; `queries` are
/// [d x panel].
void find_scores(const Head& head, const Offsets& offsets, const Block& block, const real* keys,
                 const real* queries, real* s);

/// The softmax of a panel as far as its keys have been seen.
struct Running {
  alignas(64) real largest[panel_queries];
  alignas(64) real total[panel_queries];   ///< sum of e^(s - largest)
  alignas(64) real factor[panel_queries];  ///< for what was summed over the blocks before
};

/// Replaces the scores of the next block, or the first, by e^(s - largest).
void exponentiate(real* s, size_t keys, bool first, Running& softmax);

}  // namespace lamina::attention_head
