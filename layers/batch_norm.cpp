#include "layers/batch_norm.h"

#include <algorithm>
#include <cmath>

#include "core/ops.h"
#include "core/ops/map.h"
#include "layers/batch_norm_maps.h"
#include "layers/column_moments.h"
#include "layers/named.h"

namespace lamina {

namespace {

/// What the sum of squares is divided by.
real divisor(size_t cases, Variance estimate) {
  return static_cast<real>(estimate == Variance::unbiased ? cases - 1 : cases);
}

void require_features(const Tensor& a, const Tensor& gain, const Tensor& bias) {
  if (a.shape().rank() == 0 || gain.shape() != Shape{a.columns()} || bias.shape() != gain.shape())
    fail("batch_norm: input ", a.shape(), ", gain ", gain.shape(), ", bias ", bias.shape(),
         "; gain and bias must have the input's last size", layout_hint(a.shape(), gain.size()));
}

void require_batch(const Tensor& a, const Tensor& gain, const Tensor& bias, Variance estimate) {
  require_features(a, gain, bias);
  if (a.rows() == 0 || (a.rows() == 1 && estimate == Variance::unbiased))
    fail("batch_norm: ", a.shape(), " has ", a.rows(), " cases; ",
         estimate == Variance::unbiased ? "the unbiased variance needs two" : "at least one is needed");
}

// Columns are worked on in blocks that stay in the first-level cache for all passes over the cases. A block
// is the unit that threads share out, so every sum has a fixed order.
constexpr size_t block = 64;

template <class Body>
void for_each_block(size_t rows, size_t columns, const Body& body) {
  parallel_for(
      columns, grain_of(rows, elementwise_grain / 4),
      [&](size_t begin, size_t end) {
        for (size_t c = begin; c < end; c += block) body(c, std::min(block, end - c));
      },
      block);
}

}  // namespace

namespace composed {

/// The mean is taken away twice: what its rounding leaves of equal cases, 1 / sqrt(epsilon) would magnify. And terms
/// that cancel, as all do for a single case, meet before they reach a's gradient.
Tensor batch_norm(const Tensor& a, const Tensor& gain, const Tensor& bias, real epsilon, Variance estimate) {
  require_batch(a, gain, bias, estimate);
  const Tensor once = a - mean_rows(a), centered = once - mean_rows(once);
  const Tensor variance = sum_rows(square(centered)) / divisor(a.rows(), estimate);
  return centered / sqrt(variance + epsilon) * gain + bias;
}

}  // namespace composed

/// With n = normalized, N cases, D = N or N - 1:
///   dbias = sum dy,  dgain = sum dy n,  da = gain / deviation (dy - dbias / N - n dgain / D)
Tensor batch_norm(const Tensor& a, const Tensor& gain, const Tensor& bias, real epsilon, Variance estimate,
                  BatchStatistics* statistics) {
  require_batch(a, gain, bias, estimate);
  const size_t rows = a.rows(), columns = a.columns();
  const real cases = static_cast<real>(rows), degrees = divisor(rows, estimate);
  Tensor y(a.shape()), mean({columns}), variance({columns}), inverse_deviation({columns});
  for_each_block(rows, columns,
                 [=, x = a.data(), out = y.data(), g = gain.data(), b = bias.data(), mu = mean.data(),
                  var = variance.data(), inverse = inverse_deviation.data()](size_t first, size_t width) {
                   column_moments({.rows = rows, .width = columns, .values = x}, degrees, first,
                                  first + width, mu, var);
                   for (size_t c = first; c < first + width; ++c)
                     inverse[c] = 1 / std::sqrt(var[c] + epsilon);
                   for (size_t r = 0; r < rows; ++r)
#pragma omp simd
                     for (size_t c = first; c < first + width; ++c)
                       out[r * columns + c] = (x[r * columns + c] - mu[c]) * inverse[c] * g[c] + b[c];
                 });
  if (statistics != nullptr) *statistics = {mean, variance};

  return record("batch_norm", y, {a, gain, bias}, [=] {
    Tensor dgain({columns}), dbias({columns});
    const GradientTarget da(a);
    for_each_block(rows, columns,
                   [=, sink = da.sink(), x = a.data(), dy = y.gradient_data(), g = gain.data(),
                    mu = mean.data(), inverse = inverse_deviation.data(), dg = dgain.data(),
                    db = dbias.data()](size_t first, size_t width) {
                     two_column_sums(rows, first, first + width, db, dg, [=](size_t r) {
                       return [=, start = r * columns](size_t c) {
                         return Pair{dy[start + c], dy[start + c] * ((x[start + c] - mu[c]) * inverse[c])};
                       };
                     });
                     for (size_t r = 0; r < rows; ++r)
#pragma omp simd
                       for (size_t c = first; c < first + width; ++c) {
                         const size_t i = r * columns + c;
                         const real n = (x[i] - mu[c]) * inverse[c];
                         sink.values[i] = (sink.add ? sink.values[i] : 0) +
                                          g[c] * inverse[c] * (dy[i] - db[c] / cases - n * (dg[c] / degrees));
                       }
                   });
    contribute(gain, [dg = dgain.data()](size_t c) { return dg[c]; });
    contribute(bias, [db = dbias.data()](size_t c) { return db[c]; });
  });
}

BatchNorm::BatchNorm(Parameters& parameters, const std::string& name, const BatchNormOptions& chosen)
    : gain(parameters.add(name + ".gain", Tensor::full({chosen.features}, chosen.gain))),
      bias(parameters.add(name + ".bias", Tensor::zeros({chosen.features}))),
      running_mean(parameters.add_state(name + ".running_mean", Tensor::zeros({chosen.features}))),
      running_variance(parameters.add_state(name + ".running_variance", Tensor::ones({chosen.features}))),
      options(chosen),
      name_(name) {}

Tensor BatchNorm::operator()(const Tensor& a, Mode mode, const ReluPool& then) {
  return in_layer(name_, [&] { return apply(a, mode, then); });
}

Tensor BatchNorm::apply(const Tensor& a, Mode mode, const ReluPool& then) {
  const auto follow = [&](const Tensor& normalized) {
    if (then.window > 1) return relu_pool(normalized, then);
    return then.relu ? relu(normalized) : normalized;
  };
  if (mode == Mode::evaluate) {
    require_features(a, gain, bias);
    return follow((a - running_mean) / sqrt(running_variance + options.epsilon) * gain + bias);
  }
  if (mode == Mode::measure_population)
    fail(
        "batch_norm: keeps moving averages only; measure_population is for recurrent layers and "
        "MaskedBatchNorm");
  if (a.shape().rank() > 0 && a.rows() == 1)
    fail("batch_norm: ", a.shape(),
         " is a single case, which has no variance and would become the bias; train with "
         "at least two, or leave a last batch of one out");
  BatchStatistics batch;
  Tensor y =
      a.shape().rank() == 4
          ? batch_norm_maps(a, gain, bias,
                            {.epsilon = options.epsilon, .variance = options.variance, .then = then}, &batch)
          : follow(batch_norm(a, gain, bias, options.epsilon, options.variance, &batch));
  if (mode == Mode::evaluate_by_batch) return y;
  const real momentum = options.momentum;
  const auto move = [&](Tensor& running, const Tensor& of_batch) {
    real* const average = running.data();
    const real* const now = of_batch.data();
    for (size_t c = 0; c < options.features; ++c) average[c] += momentum * (now[c] - average[c]);
  };
  move(running_mean, batch.mean);
  move(running_variance, batch.variance);
  return y;
}

}  // namespace lamina
