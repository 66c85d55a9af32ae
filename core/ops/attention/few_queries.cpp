#include "core/ops/attention/few_queries.h"

#include "core/math/exponential_sum.h"

namespace lamina::attention_head {

using namespace product_kernels;

namespace {

// Purposes of scratch memory.
struct ScaledQuery;
struct Scores;

/// s_j = q . k_j, for as many keys at once as a vector has lanes: their sums over the lanes are then one vector. Writes up
/// to a vector past the last score.
void find_scores(const real* q, const Rows<const real>& k, size_t keys, size_t d, real* s) {
  const size_t whole = d / lanes * lanes;
  for (size_t j = 0; j < keys; j += lanes) {
    const real* row[lanes];
    for (size_t t = 0; t < lanes; ++t) row[t] = k[std::min(j + t, keys - 1)];
    vec sum[lanes] = {};
    for (size_t p = 0; p < whole; p += lanes) {
      const vec x = load(q + p);
#pragma GCC unroll 16
      for (size_t t = 0; t < lanes; ++t) sum[t] += x * load(row[t] + p);
    }
    if (whole < d) {
      const vec x = load_first(q + whole, d - whole);
#pragma GCC unroll 16
      for (size_t t = 0; t < lanes; ++t) sum[t] += x * load_first(row[t] + whole, d - whole);
    }
    store(s + j, sum_lanes(sum));
  }
}

/// y = share sum_j e_j v_j; a share of 0 gives 0. Several sums side by side, so that none waits for itself.
void sum_values(const real* e, const Rows<const real>& v, size_t keys, size_t d, real share, real* y) {
  constexpr size_t sums = 8;
  for (size_t p = 0; p < d; p += lanes) {
    const size_t columns = std::min<size_t>(lanes, d - p);
    const auto get = [&](size_t j) {
      return columns == lanes ? load(v[j] + p) : load_first(v[j] + p, columns);
    };
    vec sum[sums] = {};
    size_t j = 0;
    for (; j + sums <= keys; j += sums)
#pragma GCC unroll 16
      for (size_t t = 0; t < sums; ++t) sum[t] += splat(e[j + t]) * get(j + t);
    for (; j < keys; ++j) sum[0] += splat(e[j]) * get(j);
    const vec total = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    const vec result = share == 0 ? vec{} : total * splat(share);
    if (columns == lanes)
      store(y + p, result);
    else
      store_first(y + p, result, columns);
  }
}

}  // namespace

void forward_few(const Head& head, const Rows<real>& y) {
  const size_t d = head.width;
  real* const q = scratch<ScaledQuery>(d);
  real* const s = scratch<Scores>(head.keys + lanes);
  for (size_t i = 0; i < head.queries; ++i) {
    const size_t seen = head.seen(i);
    for (size_t p = 0; p < d; ++p) q[p] = head.q[i][p] * head.scale;
    find_scores(q, head.k, seen, d, s);
    if (head.mask.data != nullptr)
      for (size_t j = 0; j < seen; ++j) s[j] += head.mask[i][j];
    const real largest = seen > 0 ? largest_of(s, seen) : 0;
    const real shift = std::isinf(largest) && largest < 0 ? 0 : largest;
    real total = 0;
#pragma omp simd reduction(+ : total)
    for (size_t j = 0; j < seen; ++j) {
      s[j] = scalar::exp_up_to_zero(s[j] - shift);
      total += s[j];
    }
    sum_values(s, head.v, seen, d, total == 0 ? 0 : 1 / total, y[i]);
  }
}

}  // namespace lamina::attention_head
