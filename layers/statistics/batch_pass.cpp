#include "layers/statistics/batch_pass.h"

#include "core/ops.h"
#include "layers/statistics/column_norm.h"
#include "layers/statistics/map_norm.h"

namespace lamina::batch_pass {

namespace {

/// The sum of squares is divided by the number of cases minus this.
real lost(Variance estimate) { return estimate == Variance::unbiased ? 1 : 0; }

const char* needed(Variance estimate) {
  return estimate == Variance::unbiased ? "the unbiased variance needs two" : "at least one is needed";
}

map_norm::Map map_of(const Options& options, const Tensor& a, const Tensor& gain, const Tensor& bias) {
  const map_norm::Map map = map_norm::map_of(options.op, a, gain, bias, 0, options.then);
  if (map.per_unit) fail(options.op, ": the gain is ", gain.shape(), "; it must be [", map.channels, "]");
  if (map.images == 0) fail(options.op, ": ", a.shape(), " has 0 cases; ", needed(options.variance));
  if (map.images * map.positions() < 2 && options.variance == Variance::unbiased)
    fail(options.op, ": ", a.shape(), " has one number per channel; the unbiased variance needs two");
  return map;
}

BatchStatistics statistics_of(size_t features) { return {Tensor({features}), Tensor({features})}; }

}  // namespace

void require_features(const char* op, const Tensor& a, const Tensor& gain, const Tensor& bias) {
  if (a.shape().rank() == 0 || gain.shape() != Shape{a.columns()} || bias.shape() != gain.shape())
    fail(op, ": input ", a.shape(), ", gain ", gain.shape(), ", bias ", bias.shape(),
         "; gain and bias must have the input's last size", layout_hint(a.shape(), gain.size()));
}

void require_rows(const Options& options, const Tensor& a, const Tensor& gain, const Tensor& bias) {
  require_features(options.op, a, gain, bias);
  if (a.rows() == 0 || (a.rows() == 1 && options.variance == Variance::unbiased))
    fail(options.op, ": ", a.shape(), " has ", a.rows(), " cases; ", needed(options.variance));
}

void require_maps(const Options& options, const Tensor& a, const Tensor& gain, const Tensor& bias) {
  (void)map_of(options, a, gain, bias);
}

Tensor normalize_rows(const Options& options, const Tensor& a, const Tensor& gain, const Tensor& bias,
                      BatchStatistics& statistics) {
  require_rows(options, a, gain, bias);
  if (!statistics.mean.defined()) statistics = statistics_of(a.columns());
  const column_norm::Scheme scheme = {.op = options.op,
                                      .epsilon = options.epsilon,
                                      .lost = lost(options.variance),
                                      .measured = options.measured,
                                      .into = options.into};
  return column_norm::normalize(scheme, a, gain, bias, statistics.mean, statistics.variance);
}

Tensor normalize_maps(const Options& options, const Tensor& a, const Tensor& gain, const Tensor& bias,
                      BatchStatistics& statistics) {
  const map_norm::Map map = map_of(options, a, gain, bias);
  if (!statistics.mean.defined()) statistics = statistics_of(map.channels);
  const map_norm::Sharing sharing = {
      .over_images = true, .lost = lost(options.variance), .measured = options.measured};
  return map_norm::normalize({options.name(), options.then.kind()}, map, sharing, options.epsilon, a, gain,
                             bias, statistics.mean, statistics.variance, options.into);
}

Tensor normalize(const Options& options, const Tensor& a, const Tensor& gain, const Tensor& bias,
                 BatchStatistics& statistics) {
  if (a.shape().rank() == 4) return normalize_maps(options, a, gain, bias, statistics);
  return relu_pool(normalize_rows(options, a, gain, bias, statistics), options.then);
}

BatchStatistics measure(const Options& options, const Tensor& a, const Tensor& gain, const Tensor& bias) {
  BatchStatistics statistics = statistics_of(a.shape().rank() == 0 ? 1 : a.columns());
  if (a.shape().rank() == 4) {
    map_norm::measure(map_of(options, a, gain, bias), lost(options.variance), a, statistics.mean,
                      statistics.variance);
  } else {
    require_rows(options, a, gain, bias);
    column_norm::measure(a, {}, lost(options.variance), statistics.mean, statistics.variance);
  }
  return statistics;
}

}  // namespace lamina::batch_pass
