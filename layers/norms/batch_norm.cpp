#include "layers/norms/batch_norm.h"

#include "core/ops.h"
#include "layers/named.h"
#include "layers/statistics/column_norm.h"
#include "layers/statistics/map_norm.h"

namespace lamina {

namespace {

/// The sum of squares is divided by the number of cases minus this.
real lost(Variance estimate) { return estimate == Variance::unbiased ? 1 : 0; }

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

map_norm::Map map_of(const Tensor& a, const Tensor& gain, const Tensor& bias,
                     const BatchNormMapsOptions& options) {
  const map_norm::Map map = map_norm::map_of("batch_norm_maps", a, gain, bias, 0, options.then);
  if (map.per_unit) fail("batch_norm_maps: the gain is ", gain.shape(), "; it must be [", map.channels, "]");
  if (map.images * map.positions() < 2 && options.variance == Variance::unbiased)
    fail("batch_norm_maps: ", a.shape(), " has one number per channel; the unbiased variance needs two");
  return map;
}

}  // namespace

namespace composed {

/// The mean is subtracted twice: for equal cases, 1 / sqrt(epsilon) would magnify the rounding error that one
/// subtraction leaves. And terms that cancel, as all do for a single case, are added before they reach a's
/// gradient.
Tensor batch_norm(const Tensor& a, const Tensor& gain, const Tensor& bias, real epsilon, Variance estimate) {
  require_batch(a, gain, bias, estimate);
  const Tensor once = a - mean_rows(a), centered = once - mean_rows(once);
  const Tensor variance = sum_rows(square(centered)) / (static_cast<real>(a.rows()) - lost(estimate));
  return centered / sqrt(variance + epsilon) * gain + bias;
}

Tensor batch_norm_maps(const Tensor& a, const Tensor& gain, const Tensor& bias,
                       const BatchNormMapsOptions& options) {
  (void)map_of(a, gain, bias, options);  // throws for shapes that do not fit
  return composed::relu_pool(composed::batch_norm(a, gain, bias, options.epsilon, options.variance),
                             options.then);
}

}  // namespace composed

Tensor batch_norm(const Tensor& a, const Tensor& gain, const Tensor& bias, real epsilon, Variance estimate,
                  BatchStatistics* statistics) {
  require_batch(a, gain, bias, estimate);
  const BatchStatistics batch = {Tensor({a.columns()}), Tensor({a.columns()})};
  if (statistics != nullptr) *statistics = batch;
  return column_norm::normalize({.op = "batch_norm", .epsilon = epsilon, .lost = lost(estimate)}, a, gain,
                                bias, batch.mean, batch.variance);
}

Tensor batch_norm_maps(const Tensor& a, const Tensor& gain, const Tensor& bias,
                       const BatchNormMapsOptions& options, BatchStatistics* statistics) {
  const map_norm::Map map = map_of(a, gain, bias, options);
  const BatchStatistics batch = {Tensor({map.channels}), Tensor({map.channels})};
  if (statistics != nullptr) *statistics = batch;
  const Op op = {options.then.relu ? "batch_norm_maps_relu" : "batch_norm_maps", options.then.kind()};
  return map_norm::normalize(op, map, {.over_images = true, .lost = lost(options.variance)}, options.epsilon,
                             a, gain, bias, batch.mean, batch.variance);
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
  if (mode == Mode::evaluate) {
    require_features(a, gain, bias);
    return relu_pool((a - running_mean) / sqrt(running_variance + options.epsilon) * gain + bias, then);
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
          : relu_pool(batch_norm(a, gain, bias, options.epsilon, options.variance, &batch), then);
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
