#include "layers/statistics/batch_pass.h"

#include "core/ops.h"
#include "layers/statistics/column_norm.h"
#include "layers/statistics/map_norm.h"

namespace lamina::batch_pass {

namespace {

const char* needed(Variance estimate) {
  return estimate == Variance::unbiased ? "the unbiased variance needs two" : "at least one is needed";
}

map_norm::Map map_of(const Options& options, const Tensor& a, const Tensor& gain, const Tensor& bias) {
  const Variance estimate = options.batch.variance;
  const map_norm::Map map = map_norm::map_of(options.op, a, gain, bias, 0, options.batch.then);
  if (map.per_unit) fail(options.op, ": the gain is ", gain.shape(), "; it must be [", map.channels, "]");
  if (map.images == 0) fail(options.op, ": ", a.shape(), " has 0 cases; ", needed(estimate));
  if (map.images * map.positions() < 2 && estimate == Variance::unbiased)
    fail(options.op, ": ", a.shape(), " has one number per channel; the unbiased variance needs two");
  return map;
}

void require_rows(const Options& options, const Tensor& a, const Tensor& gain, const Tensor& bias) {
  const Variance estimate = options.batch.variance;
  require_features(options.op, a, gain, bias);
  if (options.over_ranks) return;
  if (a.rows() == 0 || (a.rows() == 1 && estimate == Variance::unbiased))
    fail(options.op, ": ", a.shape(), " has ", a.rows(), " cases; ", needed(estimate));
}

BatchStatistics statistics_of(size_t features) { return {Tensor({features}), Tensor({features})}; }

}  // namespace

void require_features(const char* op, const Tensor& a, const Tensor& gain, const Tensor& bias) {
  if (a.shape().rank() == 0 || gain.shape() != Shape{a.columns()} || bias.shape() != gain.shape())
    fail(op, ": input ", a.shape(), ", gain ", gain.shape(), ", bias ", bias.shape(),
         "; gain and bias must have the input's last size", layout_hint(a.shape(), gain.size()));
}

void require(const Options& options, const Tensor& a, const Tensor& gain, const Tensor& bias) {
  if (options.maps)
    (void)map_of(options, a, gain, bias);
  else
    require_rows(options, a, gain, bias);
}

Tensor normalize(const Options& options, const Tensor& a, const Tensor& gain, const Tensor& bias,
                 BatchStatistics& statistics) {
  require(options, a, gain, bias);
  const auto& [epsilon, variance, then] = options.batch;
  if (!statistics.mean.defined()) statistics = statistics_of(a.columns());
  if (!options.maps) {
    column_norm::Scheme scheme = {.op = options.op,
                                  .epsilon = epsilon,
                                  .lost = lost(variance),
                                  .measured = options.measured || options.over_ranks,
                                  .into = options.into};
    if (options.over_ranks)
      scheme.cases_of_ranks =
          column_norm::measure_over_ranks(a, {}, scheme.lost, statistics.mean, statistics.variance);
    return relu_pool(column_norm::normalize(scheme, a, gain, bias, statistics.mean, statistics.variance),
                     then);
  }
  const char* const op = then.relu && options.op_with_relu != nullptr ? options.op_with_relu : options.op;
  return map_norm::normalize({op, then.kind()}, map_of(options, a, gain, bias),
                             {.over_images = true, .lost = lost(variance), .measured = options.measured},
                             epsilon, a, gain, bias, statistics.mean, statistics.variance, options.into);
}

BatchStatistics measure(const Options& options, const Tensor& a, const Tensor& gain, const Tensor& bias) {
  require(options, a, gain, bias);
  const real lost_cases = lost(options.batch.variance);
  BatchStatistics statistics = statistics_of(a.columns());
  if (options.maps)
    map_norm::measure(map_of(options, a, gain, bias), lost_cases, a, statistics.mean, statistics.variance);
  else
    column_norm::measure(a, {}, lost_cases, statistics.mean, statistics.variance);
  return statistics;
}

}  // namespace lamina::batch_pass
