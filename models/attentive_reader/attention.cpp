#include "models/attentive_reader/attention.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/math/math.h"
#include "core/math/sum.h"
#include "core/ops.h"
#include "core/ops/map.h"

namespace lamina::attentive_reader {

namespace {

struct AttentionSizes {
  size_t steps, rows, hidden, units;
};

void require_mask(const char* op, const Tensor& states, const Tensor& mask) {
  if (states.shape().rank() != 3 || states.shape()[0] == 0)
    fail(op, ": the states are ", states.shape(), "; [T x B x H] with at least one step is needed");
  const Shape shape{states.shape()[0], states.shape()[1]};
  if (mask.defined() && mask.shape() != shape)
    fail(op, ": the mask is ", mask.shape(), " for states ", states.shape(), "; ", shape, " is needed");
}

AttentionSizes sizes_of(const AttentionInputs& in) {
  require_mask("attend", in.states, in.mask);
  const Shape shape = in.states.shape();
  const AttentionSizes sizes{shape[0], shape[1], shape[2], in.keys.columns()};
  const auto require = [](const char* name, const Tensor& tensor, const Shape& needed) {
    if (tensor.shape() != needed) fail("attend: ", name, " ", tensor.shape(), "; ", needed, " is needed");
  };
  require("keys", in.keys, {sizes.steps, sizes.rows, sizes.units});
  require("query", in.query, {sizes.rows, sizes.units});
  require("weight", in.weight, {sizes.units});
  if (in.relation.defined()) require("relation", in.relation, {sizes.rows, sizes.hidden});
  return sizes;
}

/// Threads divide the cases: each takes its own cases through all steps, step by step, because the cases of a
/// step are contiguous.
size_t shares_for(const AttentionSizes& s) {
  return shares_of(s.rows, grain_of(s.steps * (s.hidden + s.units), elementwise_grain / 8));
}

/// to += factor * from
void add_scaled(size_t count, real factor, const real* from, real* to) {
#pragma omp simd
  for (size_t i = 0; i < count; ++i) to[i] += factor * from[i];
}

/// e_t of the cases [begin, end) into `scores` [T x B], and d_t . v into `related`, which holds zeros.
void score_cases(const AttentionInputs& in, const AttentionSizes& s, Range cases, real* related,
                 real* scores) {
  for (size_t t = 0; t < s.steps; ++t)
    for (size_t b = cases.begin; b < cases.end; ++b) {
      const size_t at = t * s.rows + b;
      if (in.relation.defined()) {
        const real *const d = in.states.data() + at * s.hidden, *const v = in.relation.data() + b * s.hidden;
        related[at] = sum_over(s.hidden, [=](size_t j) { return d[j] * v[j]; });
      }
      const real *const k = in.keys.data() + at * s.units, *const q = in.query.data() + b * s.units;
      scores[at] = sum_over(s.units, [=, w = in.weight.data(), both = related[at]](size_t j) {
        return w[j] * scalar::tanh(k[j] + q[j] + both);
      });
    }
}

/// Turns the scores of the cases into weights that sum to 1 over the steps that are not padded.
void softmax_over_time(const AttentionSizes& s, Range cases, const real* mask, real* scores) {
  for (size_t b = cases.begin; b < cases.end; ++b) {
    const auto padded = [=](size_t t) { return mask != nullptr && mask[t * s.rows + b] == 0; };
    real most = -std::numeric_limits<real>::infinity(), total = 0;
    for (size_t t = 0; t < s.steps; ++t)
      if (!padded(t) && !(scores[t * s.rows + b] <= most)) most = scores[t * s.rows + b];  // takes NaN
    for (size_t t = 0; t < s.steps; ++t) {
      real& score = scores[t * s.rows + b];
      total += score = padded(t) ? 0 : scalar::exp(score - most);
    }
    for (size_t t = 0; t < s.steps; ++t) scores[t * s.rows + b] /= total;
  }
}

/// sum_t weights_tb states_tb for the cases, into `to` [B x H].
void weighted_sum(const AttentionSizes& s, Range cases, const real* weights, const real* states, real* to) {
  std::fill(to + cases.begin * s.hidden, to + cases.end * s.hidden, real{0});
  for (size_t t = 0; t < s.steps; ++t)
    for (size_t b = cases.begin; b < cases.end; ++b)
      add_scaled(s.hidden, weights[t * s.rows + b], states + (t * s.rows + b) * s.hidden, to + b * s.hidden);
}

/// The outputs of the backward pass of some cases; dquery, drelation and dweight start as zeros.
struct Gradients {
  GradientTarget states, keys;
  Tensor query, relation;
  Tensor weight;  ///< [shares x A]
};

/// dalpha_t = dr . d_t,  de_t = alpha_t (dalpha_t - sum_s alpha_s dalpha_s), into `de` [T x B]; `inner` [B]
/// starts as zeros and holds the sums.
void score_derivatives(const AttentionInputs& in, const AttentionSizes& s, Range cases, const Attended& out,
                       real* de, real* inner) {
  const real* const alpha = out.weights.data();
  for (size_t t = 0; t < s.steps; ++t)
    for (size_t b = cases.begin; b < cases.end; ++b) {
      const size_t at = t * s.rows + b;
      de[at] = 0;
      if (alpha[at] == 0) continue;  // padded steps may hold anything
      const real *const dr = out.context.gradient_data() + b * s.hidden, *const d =
                                                                             in.states.data() + at * s.hidden;
      de[at] = sum_over(s.hidden, [=](size_t j) { return dr[j] * d[j]; });
      inner[b] += alpha[at] * de[at];
    }
  for (size_t t = 0; t < s.steps; ++t)
    for (size_t b = cases.begin; b < cases.end; ++b)
      de[t * s.rows + b] = alpha[t * s.rows + b] * (de[t * s.rows + b] - inner[b]);
}

/// dk_t = de_t w (1 - m_t^2),  dq = sum_t dk_t,  dw += sum_t de_t m_t; `derivatives` holds de_t and becomes
/// d(d_t . v), the sum of dk_t over its units
void sums_backward(const AttentionInputs& in, const AttentionSizes& s, Range cases, const real* related,
                   real* derivatives, const Gradients& to, real* dw) {
  const real* const w = in.weight.data();
  for (size_t t = 0; t < s.steps; ++t)
    for (size_t b = cases.begin; b < cases.end; ++b) {
      const size_t at = t * s.rows + b;
      const real *const k = in.keys.data() + at * s.units, *const q = in.query.data() + b * s.units;
      real* const dq = to.query.storage()->values + b * s.units;
      const GradientSink sink = to.keys.at(at * s.units);
      real* const dk = sink.values;
      const bool add = sink.add;
      const real de = derivatives[at], both = related[at];
      real dboth = 0;
#pragma omp simd reduction(+ : dboth)
      for (size_t j = 0; j < s.units; ++j) {
        const real m = scalar::tanh(k[j] + q[j] + both), dsum = de * w[j] * (1 - m * m);
        dk[j] = (add ? dk[j] : 0) + dsum;
        dq[j] += dsum;
        dw[j] += de * m;
        dboth += dsum;
      }
      derivatives[at] = dboth;
    }
}

/// dd_t = alpha_t dr + d(d_t . v) v,  dv = sum_t d(d_t . v) d_t
void states_backward(const AttentionInputs& in, const AttentionSizes& s, Range cases, const Attended& out,
                     const real* derivatives, const Gradients& to) {
  const bool related = in.relation.defined();
  for (size_t t = 0; t < s.steps; ++t)
    for (size_t b = cases.begin; b < cases.end; ++b) {
      const size_t at = t * s.rows + b;
      const GradientSink sink = to.states.at(at * s.hidden);
      if (!sink.add) std::fill_n(sink.values, s.hidden, real{0});
      add_scaled(s.hidden, out.weights[at], out.context.gradient_data() + b * s.hidden, sink.values);
      if (!related) continue;
      add_scaled(s.hidden, derivatives[at], in.relation.data() + b * s.hidden, sink.values);
      add_scaled(s.hidden, derivatives[at], in.states.data() + at * s.hidden,
                 to.relation.storage()->values + b * s.hidden);
    }
}

}  // namespace

Attended attend(const AttentionInputs& in) {
  const AttentionSizes s = sizes_of(in);
  const size_t shares = shares_for(s);
  Attended out{.context = Tensor({s.rows, s.hidden}), .weights = Tensor({s.steps, s.rows})};
  Tensor related = Tensor::zeros({s.steps, s.rows});
  const real* const mask = in.mask.defined() ? in.mask.data() : nullptr;
  for_each_share(
      shares, [&, both = related.data(), alpha = out.weights.data(), r = out.context.data()](size_t share) {
        const Range cases = part_of(s.rows, share, shares);
        score_cases(in, s, cases, both, alpha);
        softmax_over_time(s, cases, mask, alpha);
        weighted_sum(s, cases, alpha, in.states.data(), r);
      });
  record("attend", out.context, {in.states, in.keys, in.query, in.relation, in.weight}, [=] {
    const Gradients to{.states = GradientTarget(in.states),
                       .keys = GradientTarget(in.keys),
                       .query = Tensor::zeros(in.query.shape()),
                       .relation = in.relation.defined() ? Tensor::zeros(in.relation.shape()) : Tensor(),
                       .weight = Tensor::zeros({shares, s.units})};
    Tensor derivatives({s.steps, s.rows}), inner = Tensor::zeros({s.rows});
    for_each_share(shares, [&, de = derivatives.data(), sums = inner.data()](size_t share) {
      const Range cases = part_of(s.rows, share, shares);
      score_derivatives(in, s, cases, out, de, sums);
      sums_backward(in, s, cases, related.data(), de, to, to.weight.storage()->values + share * s.units);
      states_backward(in, s, cases, out, de, to);
    });
    contribute(in.query, [d = to.query.data()](size_t i) { return d[i]; });
    if (in.relation.defined()) contribute(in.relation, [d = to.relation.data()](size_t i) { return d[i]; });
    contribute_summed_rows(in.weight, shares, [=, d = to.weight.data()](size_t share, size_t j) {
      return d[share * s.units + j];
    });
  });
  return out;
}

/// y_b = sum_t p_tb d_tb with p = mask / steps that are not padded;  dd_tb = p_tb dy_b
Tensor mean_state(const Tensor& states, const Tensor& mask) {
  require_mask("mean_state", states, mask);
  const AttentionSizes s{states.shape()[0], states.shape()[1], states.shape()[2], 0};
  Tensor share_of({s.steps, s.rows}), y({s.rows, s.hidden});
  for (size_t b = 0; b < s.rows; ++b) {
    real count = 0;
    for (size_t t = 0; t < s.steps; ++t) count += mask.defined() ? mask[t * s.rows + b] : 1;
    for (size_t t = 0; t < s.steps; ++t)
      share_of[t * s.rows + b] = (mask.defined() ? mask[t * s.rows + b] : 1) / count;
  }
  parallel_for(s.rows, grain_of(s.steps * s.hidden), [&, to = y.data()](size_t begin, size_t end) {
    weighted_sum(s, {begin, end}, share_of.data(), states.data(), to);
  });
  return record("mean_state", y, {states}, [=] {
    const GradientSink sink = states.gradient_sink();
    const real* const dy = y.gradient_data();
    parallel_for(s.steps, grain_of(s.rows * s.hidden), [&](size_t begin, size_t end) {
      for (size_t at = begin * s.rows; at < end * s.rows; ++at) {
        real* const dd = sink.values + at * s.hidden;
        if (!sink.add) std::fill_n(dd, s.hidden, real{0});
        add_scaled(s.hidden, share_of[at], dy + at % s.rows * s.hidden, dd);
      }
    });
  });
}

namespace composed {

namespace {

/// x [B x H] for each of the steps: [T x B x H]
Tensor repeated(const Tensor& x, size_t steps) {
  const std::vector<Tensor> copies(steps, x);
  return concatenate(copies, 0).reshape({steps, x.rows(), x.columns()});
}

/// sum_t weights_tb states_tb, from weights [T x B]
Tensor weighted_sum(const Tensor& weights, const Tensor& states) {
  const size_t steps = states.shape()[0], rows = states.shape()[1], hidden = states.columns();
  const Tensor weighted = (states * weights.reshape({steps, rows, 1})).reshape({steps, rows * hidden});
  return sum_rows(weighted).reshape({rows, hidden});
}

}  // namespace

Attended attend(const AttentionInputs& in) {
  const auto [steps, rows, hidden, units] = sizes_of(in);
  Tensor a = in.keys + repeated(in.query, steps);
  if (in.relation.defined())
    a = a + sum_columns(in.states * repeated(in.relation, steps)).reshape({steps, rows, 1});
  Tensor e = matmul(tanh(a), in.weight.reshape({units, 1})).reshape({steps, rows});
  if (in.mask.defined()) e = e + (in.mask - 1) * real(1e9);
  const Tensor alpha = transpose(softmax(transpose(e)));
  return {.context = weighted_sum(alpha, in.states), .weights = alpha};
}

Tensor mean_state(const Tensor& states, const Tensor& mask) {
  const size_t steps = states.shape()[0], rows = states.shape()[1];
  const Tensor valid = mask.defined() ? mask : Tensor::ones({steps, rows});
  return weighted_sum(valid / sum_rows(valid), states);
}

}  // namespace composed

}  // namespace lamina::attentive_reader
