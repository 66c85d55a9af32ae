#include "core/ops/attention/scores.h"

#include <limits>

#include "core/gemm/gathered_tile.h"
#include "core/math/math.h"

namespace lamina::attention_head {

using namespace product_kernels;

namespace {

constexpr real infinity = std::numeric_limits<real>::infinity();

// A purpose of scratch memory.
struct Mask;

void add_mask(const Head& head, const Block& block, real* s) {
  const size_t query = block.panel * panel_queries;
  real* const mask = scratch<Mask>(block_keys * panel_queries);
  pack_panel(Transpose::yes, block.keys, head.queries_of(block.panel), head.mask[query] + block.first_key,
             head.mask.stride, mask);
#pragma omp simd
  for (size_t i = 0; i < block.keys * panel_queries; ++i) s[i] += mask[i];
}

/// A key is hidden from the queries that come too early for it: from the first ones of the panel.
void hide_later_keys(const Head& head, const Block& block, real* s) {
  const size_t query = block.panel * panel_queries, seen = head.seen(query);
  for (size_t j = seen > block.first_key ? seen - block.first_key : 0; j < block.keys; ++j) {
    const size_t first_to_see = block.first_key + j + head.queries - head.all_keys;
    std::fill_n(s + j * panel_queries, std::min(panel_queries, first_to_see - query), -infinity);
  }
}

real larger(real a, real b) { return a > b ? a : b; }

/// largest = max(largest, s): four keys at a time, so that no maximum waits for the one before.
void raise_largest(const real* s, size_t keys, real* largest) {
  size_t j = 0;
  for (; j + 4 <= keys; j += 4, s += 4 * panel_queries)
    for_each_query([=](size_t c) {
      const real first = larger(s[c], s[c + panel_queries]);
      const real second = larger(s[c + 2 * panel_queries], s[c + 3 * panel_queries]);
      largest[c] = larger(larger(first, second), largest[c]);
    });
  for (; j < keys; ++j, s += panel_queries)
    for_each_query([=](size_t c) { largest[c] = larger(s[c], largest[c]); });
}

}  // namespace

void find_scores(const Head& head, const Offsets& offsets, const Block& block, const real* keys,
                 const real* queries, real* s) {
  multiply_gathered(block.keys, panel_queries, head.width, {keys, offsets.rows(), offsets.numbers()}, queries,
                    s, panel_queries, nullptr, 0);
  if (head.mask.data != nullptr) add_mask(head, block, s);
  if (head.causal) hide_later_keys(head, block, s);
}

/// m' = max(m, s_j),  factor = e^(m - m'),  e_j = e^(s_j - m'),  total <- factor total + sum_j e_j
void exponentiate(real* s, size_t keys, bool first, Running& softmax) {
  alignas(64) real shift[panel_queries], total[panel_queries] = {};
  for_each_query([&](size_t c) { shift[c] = first ? -infinity : softmax.largest[c]; });
  raise_largest(s, keys, shift);
  for_each_query([&](size_t c) {
    const real before = softmax.largest[c], largest = shift[c];
    softmax.largest[c] = largest;
    shift[c] = largest == -infinity ? 0 : largest;  // nothing has been seen: infinity - infinity would be NaN
    softmax.factor[c] = first ? 0 : scalar::exp_up_to_zero(before - shift[c]);
  });
  add_in_parts(keys, total, [&](size_t j, real* part) {
    for_each_query([&, row = s + j * panel_queries](size_t c) {
      row[c] = scalar::exp_up_to_zero(row[c] - shift[c]);
      part[c] += row[c];
    });
  });
  for_each_query([&](size_t c) {
    softmax.total[c] = first ? total[c] : softmax.total[c] * softmax.factor[c] + total[c];
  });
}

}  // namespace lamina::attention_head
