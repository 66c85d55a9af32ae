#include "core/ops/loss/loss.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/math/exponential_sum.h"
#include "core/math/math.h"
#include "core/math/sum.h"
#include "core/memory/cached_vector.h"
#include "core/ops/map.h"

namespace lamina {

namespace {

/// body(r) for every row, on several threads when the rows hold enough elements.
template <class Body>
void for_each_row(size_t rows, size_t columns, const Body& body) {
  parallel_for(rows, grain_of(columns), [&](size_t begin, size_t end) {
    for (size_t r = begin; r < end; ++r) body(r);
  });
}

void require_columns(const char* op, const Tensor& x) {
  require_values(op, x);
  if (x.shape().rank() == 0 || x.columns() == 0)
    fail(op, ": ", x.shape(), " has no classes in its last axis");
}

}  // namespace

/// y_j = e^x_j / sum_k e^x_k;  dx_j = y_j (dy_j - sum_k dy_k y_k)
Tensor softmax(const Tensor& x) {
  require_columns("softmax", x);
  const size_t rows = x.rows(), columns = x.columns();
  Tensor y(x.shape());
  for_each_row(rows, columns, [=, in = x.data(), out = y.data()](size_t r) {
    const real* const from = in + r * columns;
    real* const to = out + r * columns;
    const real total = exponential_sum(from, columns, [=](size_t c, real e) { to[c] = e; }).total;
#pragma omp simd
    for (size_t c = 0; c < columns; ++c) to[c] /= total;  // one rounding; times 1 / total two
  });
  return record("softmax", y, {x}, [=] {
    const GradientSink sink = x.gradient_sink();
    for_each_row(rows, columns, [=, all = y.data(), dall = y.gradient_data()](size_t r) {
      const real *const p = all + r * columns, *const dp = dall + r * columns;
      real* const dx = sink.values + r * columns;
      real inner = 0;
#pragma omp simd reduction(+ : inner)
      for (size_t c = 0; c < columns; ++c) inner += dp[c] * p[c];
#pragma omp simd
      for (size_t c = 0; c < columns; ++c) dx[c] = (sink.add ? dx[c] : 0) + p[c] * (dp[c] - inner);
    });
  });
}

/// y_j = x_j - log sum_k e^x_k;  dx_j = dy_j - e^y_j sum_k dy_k
Tensor log_softmax(const Tensor& x) {
  require_columns("log_softmax", x);
  const size_t rows = x.rows(), columns = x.columns();
  Tensor y(x.shape());
  for_each_row(rows, columns, [=, in = x.data(), out = y.data()](size_t r) {
    const auto row = exponential_sum(in + r * columns, columns);
    const real largest = row.largest, log_total = std::log(row.total);
#pragma omp simd
    for (size_t i = r * columns; i < (r + 1) * columns; ++i) out[i] = (in[i] - largest) - log_total;
  });
  return record("log_softmax", y, {x}, [=] {
    const GradientSink sink = x.gradient_sink();
    for_each_row(rows, columns, [=, out = y.data(), dy = y.gradient_data()](size_t r) {
      const size_t begin = r * columns, end = begin + columns;
      real* const dx = sink.values;
      real total = 0;
#pragma omp simd reduction(+ : total)
      for (size_t i = begin; i < end; ++i) total += dy[i];
#pragma omp simd
      for (size_t i = begin; i < end; ++i)
        dx[i] = (sink.add ? dx[i] : 0) + dy[i] - scalar::exp(out[i]) * total;
    });
  });
}

namespace {

/// Throws Error unless there is a label for each row, and each is one of the classes or ignored.
void require_labels(const Tensor& logits, std::span<const int> labels, std::optional<int> ignored) {
  require_columns("cross_entropy", logits);
  const size_t rows = logits.rows(), columns = logits.columns();
  if (labels.size() != rows)
    fail("cross_entropy: ", labels.size(), " labels for logits ", logits.shape(), "; one per row is needed");
  if (rows == 0) fail("cross_entropy: the logits ", logits.shape(), " have no row, and nothing has no mean");
  for (const int label : labels)
    if ((label < 0 || static_cast<size_t>(label) >= columns) && label != ignored)
      fail("cross_entropy: label ", label, " is outside the ", columns, " classes");
}

/// L = mean_r (log sum_k e^x_rk - x_r,label);  dx_rk = dL / rows (softmax(x_r)_k - [k = label])
Tensor plain_cross_entropy(const Tensor& logits, std::span<const int> labels) {
  const size_t rows = logits.rows(), columns = logits.columns();
  Tensor sums({rows, 2}), losses({rows});
  auto* const kept_sums = reinterpret_cast<ExponentialSum*>(sums.data());
  for_each_row(rows, columns, [=, x = logits.data(), out = losses.data()](size_t r) {
    const real* const row = x + r * columns;
    kept_sums[r] = exponential_sum(row, columns);
    out[r] = -kept_sums[r].log_share(row[labels[r]]);
  });
  const real total = sum_over(rows, [from = losses.data()](size_t r) { return from[r]; });
  Tensor loss = Tensor::full({}, total / static_cast<real>(rows));
  if (Tape::current() == nullptr) return loss;

  return record("cross_entropy", loss, {logits}, [=, kept = CachedVector<int>(labels.begin(), labels.end())] {
    const real scale = *loss.gradient_data() / static_cast<real>(rows);
    const GradientSink sink = logits.gradient_sink();
    const int* const label = kept.data();
    const auto* const row_sums = reinterpret_cast<const ExponentialSum*>(sums.data());
    for_each_row(rows, columns, [=, x = logits.data()](size_t r) {
      const real* const row = x + r * columns;
      real* const dx = sink.values + r * columns;
      const real largest = row_sums[r].largest, factor = scale / row_sums[r].total;
#pragma omp simd
      for (size_t c = 0; c < columns; ++c)
        dx[c] = (sink.add ? dx[c] : 0) + factor * scalar::exp(row[c] - largest);
      dx[label[r]] -= scale;
    });
  });
}

/// The class weights, [columns]: ones where none are given.
Tensor weights_of(const CrossEntropyOptions& options, size_t columns) {
  const Tensor& weights = options.class_weights;
  if (!weights.defined()) return Tensor::ones({columns});
  if (weights.shape() != Shape{columns})
    fail("cross_entropy: the class weights are ", weights.shape(), "; one a class is needed, [", columns,
         "]");
  for (size_t c = 0; c < columns; ++c)
    if (!(weights[c] >= 0) || !std::isfinite(weights[c]))
      fail("cross_entropy: the weight of class ", c, " is ", weights[c],
           "; it must be finite and at least 0");
  return weights.copy();
}

/// With t_rk = (1 - s) w_label [k = label] + s w_k / C, zero in ignored rows, and W = sum_r w_label:
///   L = sum_r sum_k t_rk (log sum_j e^x_rj - x_rk) / W
///   dx_rk = dL / W (softmax(x_r)_k sum_j t_rj - t_rk)
Tensor weighted_cross_entropy(const Tensor& logits, std::span<const int> labels,
                              const CrossEntropyOptions& options) {
  const size_t rows = logits.rows(), columns = logits.columns();
  const real smoothing = options.label_smoothing, spread = smoothing / static_cast<real>(columns);
  if (!(smoothing >= 0 && smoothing < 1))
    fail("cross_entropy: label smoothing ", smoothing, "; it must be at least 0 and below 1");
  const Tensor weights = weights_of(options, columns);
  // Of each row: (1 - s) w_label, and the sum of its t.
  Tensor own({rows}), all({rows});
  const real spread_sum = spread * sum_over(columns, [w = weights.data()](size_t c) { return w[c]; });
  const auto weight_of = [&](size_t r) {
    return labels[r] == options.ignored_label ? real(0) : weights[static_cast<size_t>(labels[r])];
  };
  for (size_t r = 0; r < rows; ++r) {
    own[r] = (1 - smoothing) * weight_of(r);
    all[r] = labels[r] == options.ignored_label ? 0 : own[r] + spread_sum;
  }
  const real total_weight = sum_over(rows, weight_of);
  if (!(total_weight > 0))
    fail("cross_entropy: all ", rows,
         " labels are ignored or of weight 0, and nothing has no mean; leave such a "
         "batch out");

  Tensor sums({rows, 2}), losses({rows});
  auto* const kept_sums = reinterpret_cast<ExponentialSum*>(sums.data());
  for_each_row(rows, columns,
               [=, x = logits.data(), w = weights.data(), out = losses.data(), own = own.data(),
                all = all.data()](size_t r) {
                 out[r] = 0;
                 if (all[r] == 0) return;
                 const real* const row = x + r * columns;
                 const ExponentialSum sum = kept_sums[r] = exponential_sum(row, columns);
                 if (own[r] != 0) out[r] = -own[r] * sum.log_share(row[labels[r]]);
                 if (spread == 0) return;
                 const real log_total = std::log(sum.total);
                 out[r] += spread * sum_over(columns, [=](size_t c) {
                             return w[c] == 0 ? 0 : w[c] * (log_total - (row[c] - sum.largest));
                           });
               });
  const real total = sum_over(rows, [from = losses.data()](size_t r) { return from[r]; });
  Tensor loss = Tensor::full({}, total / total_weight);
  if (Tape::current() == nullptr) return loss;

  return record("cross_entropy", loss, {logits}, [=, kept = CachedVector<int>(labels.begin(), labels.end())] {
    const real scale = *loss.gradient_data() / total_weight;
    const GradientSink sink = logits.gradient_sink();
    const int* const label = kept.data();
    const auto* const row_sums = reinterpret_cast<const ExponentialSum*>(sums.data());
    for_each_row(rows, columns,
                 [=, x = logits.data(), w = weights.data(), own = own.data(), all = all.data()](size_t r) {
                   const real* const row = x + r * columns;
                   real* const dx = sink.values + r * columns;
                   if (all[r] == 0) {
                     if (!sink.add) std::fill_n(dx, columns, real{0});
                     return;
                   }
                   const real largest = row_sums[r].largest, factor = scale * all[r] / row_sums[r].total;
#pragma omp simd
                   for (size_t c = 0; c < columns; ++c)
                     dx[c] = (sink.add ? dx[c] : 0) + factor * scalar::exp(row[c] - largest) -
                             scale * spread * w[c];
                   if (own[r] != 0) dx[label[r]] -= scale * own[r];
                 });
  });
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, std::span<const int> labels, const CrossEntropyOptions& options) {
  require_labels(logits, labels, options.ignored_label);
  const bool plain =
      !options.ignored_label && !options.class_weights.defined() && options.label_smoothing == 0;
  return plain ? plain_cross_entropy(logits, labels) : weighted_cross_entropy(logits, labels, options);
}

/// y = x (1 - t) or, for x < 0, -x t, + log(1 + e^-|x|): terms that cannot cancel;  dx = dy (sigmoid(x) - t)
Tensor bernoulli_cross_entropy(const Tensor& logits, const Tensor& targets) {
  require_values("bernoulli_cross_entropy", logits, targets);
  if (logits.shape() != targets.shape())
    fail("bernoulli_cross_entropy: logits ", logits.shape(), " and targets ", targets.shape(), " differ");
  const Tensor y = generate(logits.shape(), [x = logits.data(), t = targets.data()](size_t i) {
    return x[i] * ((x[i] > 0 ? 1 : 0) - t[i]) + std::log1p(scalar::exp(-std::fabs(x[i])));
  });
  // A constant, and an input all the same: backward() looks for writes into it.
  const Tensor constant = targets.needs_gradient() ? targets.detach() : targets;
  return record("bernoulli_cross_entropy", y, {logits, constant}, [=] {
    contribute(logits, [x = logits.data(), t = targets.data(), dy = y.gradient_data()](size_t i) {
      return dy[i] * (scalar::sigmoid(x[i]) - t[i]);
    });
  });
}

}  // namespace lamina
