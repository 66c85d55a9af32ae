#include "layers/batch_norm_maps.h"

#include "layers/map_norm.h"

namespace lamina {

using map_norm::Map;

namespace {

Map map_of(const Tensor& a, const Tensor& gain, const Tensor& bias, const BatchNormMapsOptions& options) {
  const Map map = map_norm::map_of("batch_norm_maps", a, gain, bias, 0, options.then);
  if (map.per_unit) fail("batch_norm_maps: the gain is ", gain.shape(), "; it must be [", map.channels, "]");
  if (map.images * map.positions() < 2 && options.variance == Variance::unbiased)
    fail("batch_norm_maps: ", a.shape(), " has one number per channel; the unbiased variance needs two");
  return map;
}

}  // namespace

Tensor batch_norm_maps(const Tensor& a, const Tensor& gain, const Tensor& bias,
                       const BatchNormMapsOptions& options, BatchStatistics* statistics) {
  const Map map = map_of(a, gain, bias, options);
  const BatchStatistics batch = {Tensor({map.channels}), Tensor({map.channels})};
  if (statistics != nullptr) *statistics = batch;
  const real lost = options.variance == Variance::unbiased ? 1 : 0;
  const Op op = {options.then.relu ? "batch_norm_maps_relu" : "batch_norm_maps", options.then.kind()};
  return map_norm::normalize(op, map, {.over_images = true, .lost = lost}, options.epsilon, a, gain, bias,
                             batch.mean, batch.variance);
}

namespace composed {

Tensor batch_norm_maps(const Tensor& a, const Tensor& gain, const Tensor& bias,
                       const BatchNormMapsOptions& options) {
  (void)map_of(a, gain, bias, options);  // throws for what does not fit
  return composed::relu_pool(composed::batch_norm(a, gain, bias, options.epsilon, options.variance),
                             options.then);
}

}  // namespace composed

}  // namespace lamina
