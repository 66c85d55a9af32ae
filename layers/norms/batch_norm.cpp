#include "layers/norms/batch_norm.h"

#include "core/distributed/batch_part.h"
#include "core/ops.h"
#include "layers/named.h"
#include "layers/norms/variants/batch_renorm.h"
#include "layers/norms/variants/ghost_batch_norm.h"
#include "layers/statistics/column_norm.h"

namespace lamina {

namespace {

batch_pass::Options rows_pass(const BatchPassOptions& options) {
  return {.op = "batch_norm", .batch = options};
}

batch_pass::Options maps_pass(const BatchPassOptions& options) {
  return {.op = "batch_norm_maps", .op_with_relu = "batch_norm_maps_relu", .batch = options, .maps = true};
}

Tensor normalized(const batch_pass::Options& pass, const Tensor& a, const Tensor& gain, const Tensor& bias,
                  BatchStatistics* statistics) {
  BatchStatistics batch;
  Tensor y = batch_pass::normalize(pass, a, gain, bias, batch);
  if (statistics != nullptr) *statistics = batch;
  return y;
}

/// The mean of all ranks' statistics, each weighted by its cases.
BatchStatistics mean_over_ranks(const BatchStatistics& own, size_t cases) {
  const auto count = static_cast<real>(cases);
  const size_t features = own.mean.size();
  Tensor sums = concatenate({own.mean * count, own.variance * count, Tensor::full({1}, count)}, 0);
  column_norm::sum_ranks(sums.values());
  const Tensor all = sums.slice(2 * features, 2 * features + 1);
  return {sums.slice(0, features) / all, sums.slice(features, 2 * features) / all};
}

const BatchNormOptions& checked(const std::string& name, const BatchNormOptions& chosen) {
  if (chosen.part > 0 && (chosen.r_max != 1 || chosen.d_max != 0))
    fail("batch_norm '", name, "': parts of ", chosen.part, " cases and renormalization; choose one");
  if (!(chosen.epsilon >= 0) || !(chosen.momentum >= 0 && chosen.momentum <= 1))
    fail("batch_norm '", name, "': epsilon is ", chosen.epsilon, " and momentum ", chosen.momentum,
         "; they must be at least 0, and from 0 to 1");
  return chosen;
}

}  // namespace

/// The mean is subtracted twice: for equal cases, 1 / sqrt(epsilon) would magnify the rounding error that one
/// subtraction leaves. And terms that cancel, as all do for a single case, are added before they reach a's
/// gradient.
Tensor composed::batch_norm(const Tensor& a, const Tensor& gain, const Tensor& bias,
                            const BatchPassOptions& options) {
  batch_pass::require(rows_pass(options), a, gain, bias);
  const Tensor once = a - mean_rows(a), centered = once - mean_rows(once);
  const real degrees = static_cast<real>(a.rows()) - batch_pass::lost(options.variance);
  const Tensor deviation = sqrt(sum_rows(square(centered)) / degrees + options.epsilon);
  return composed::relu_pool(centered / deviation * gain + bias, options.then);
}

Tensor composed::batch_norm_maps(const Tensor& a, const Tensor& gain, const Tensor& bias,
                                 const BatchPassOptions& options) {
  batch_pass::require(maps_pass(options), a, gain, bias);
  return composed::batch_norm(a, gain, bias, options);
}

Tensor batch_norm(const Tensor& a, const Tensor& gain, const Tensor& bias, const BatchPassOptions& options,
                  BatchStatistics* statistics) {
  return normalized(rows_pass(options), a, gain, bias, statistics);
}

Tensor batch_norm_maps(const Tensor& a, const Tensor& gain, const Tensor& bias,
                       const BatchPassOptions& options, BatchStatistics* statistics) {
  return normalized(maps_pass(options), a, gain, bias, statistics);
}

BatchNorm::BatchNorm(Parameters& parameters, const std::string& name, const BatchNormOptions& chosen)
    : gain(parameters.add(name + ".gain", Tensor::full({checked(name, chosen).features}, chosen.gain))),
      bias(parameters.add(name + ".bias", Tensor::zeros({chosen.features}))),
      running_mean(parameters.add_state(name + ".running_mean", Tensor::zeros({chosen.features}))),
      running_variance(parameters.add_state(name + ".running_variance", Tensor::ones({chosen.features}))),
      options(chosen),
      name_(name) {}

Tensor BatchNorm::operator()(const Tensor& a, Mode mode, const ReluPool& then) {
  return in_layer(name_, [&] { return apply(a, mode, then); });
}

/// Whether the batch is that of all ranks. Parts and corrections are each rank's own.
bool BatchNorm::synchronizes() const {
  return distributed::synchronizes_statistics() && options.part == 0 && !renormalizes();
}

Tensor BatchNorm::apply(const Tensor& a, Mode mode, const ReluPool& then) {
  if (mode == Mode::evaluate) {
    batch_pass::require_features("batch_norm", a, gain, bias);
    const Tensor mean = running_mean.copy();  // a later batch may move the average before the backward pass
    return relu_pool((a - mean) / sqrt(running_variance + options.epsilon) * gain + bias, then);
  }
  if (mode == Mode::measure_population)
    fail(
        "batch_norm: keeps moving averages only; measure_population is for recurrent layers and "
        "MaskedBatchNorm");
  if (a.shape().rank() > 0 && a.rows() == 1 && !synchronizes())
    fail("batch_norm: ", a.shape(),
         " is a single case, which has no variance and would become the bias; train with "
         "at least two, or leave a last batch of one out");
  if (options.part == 1 && a.shape().rank() > 0 && a.rows() == a.shape()[0])
    fail(
        "batch_norm: parts of a single case, which has no variance and would become the bias; take at least "
        "two");
  BatchStatistics statistics;
  Tensor y = by_batch(a, then, statistics);
  if (mode == Mode::evaluate_by_batch) return y;
  // They take part in later steps, and only one rank's are saved.
  if (renormalizes() && distributed::in_shared_step()) statistics = mean_over_ranks(statistics, a.rows());
  const auto move = [&](Tensor& running, const Tensor& of_batch) {
    real* const average = running.data();
    const real* now = of_batch.data();
    for (size_t part = 0; part < of_batch.rows(); ++part, now += options.features)
      for (size_t c = 0; c < options.features; ++c) average[c] += options.momentum * (now[c] - average[c]);
  };
  move(running_mean, statistics.mean);
  move(running_variance, statistics.variance);
  return y;
}

/// With the statistics of the batch, or of each of its parts.
Tensor BatchNorm::by_batch(const Tensor& a, const ReluPool& then, BatchStatistics& statistics) const {
  const BatchPassOptions pass = {.epsilon = options.epsilon, .variance = options.variance, .then = then};
  if (synchronizes())
    return batch_pass::normalize({.op = "synchronized_batch_norm", .batch = pass, .over_ranks = true}, a,
                                 gain, bias, statistics);
  if (options.part > 0) return ghost_batch_norm(a, gain, bias, options.part, pass, &statistics);
  if (renormalizes())
    return batch_renorm(a, gain, bias, {running_mean, running_variance}, {options.r_max, options.d_max}, pass,
                        &statistics);
  return (a.shape().rank() == 4 ? batch_norm_maps : batch_norm)(a, gain, bias, pass, &statistics);
}

}  // namespace lamina
