#include "layers/batch_norm_maps.h"

#include "core/ops/map.h"
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

/// Merges the moments of the images, [images x (mean, rest, spread) x channels]:
///   mu = mean of (mean_n + rest_n),  sigma^2 = P sum of (spread_n + (mean_n + rest_n - mu)^2) / degrees
/// with P positions an image
BatchStatistics merge(const Map& map, const real* moments, real degrees) {
  const size_t channels = map.channels, image = 3 * channels;
  BatchStatistics batch = {Tensor({channels}), Tensor({channels})};
  real *const mean = batch.mean.data(), *const variance = batch.variance.data();
  column_norm::moments({.rows = map.images, .width = image, .values = moments}, 1, 0, channels, mean,
                       variance);
  Tensor off({channels});
  const auto images = static_cast<real>(map.images);
  two_column_sums(map.images, 0, channels, off.data(), variance, [=](size_t n) {
    return [=, of_image = moments + n * image](size_t c) {
      const real distance = of_image[c] - mean[c] + of_image[channels + c];
      return Pair{distance, of_image[2 * channels + c] + distance * distance};
    };
  });
  const real weight = static_cast<real>(map.positions()) / degrees;
  const real* const rest = off.data();
  for (size_t c = 0; c < channels; ++c) {
    variance[c] = weight * (variance[c] - rest[c] * (rest[c] / images));
    mean[c] += rest[c] / images;
  }
  return batch;
}

}  // namespace

/// With n = normalized, N numbers per channel, D = N or N - 1, u the derivative in front of relu and pool:
///   dbias = sum u,  dgain = sum u n,  da = gain / deviation (u - dbias / N - n dgain / D)
Tensor batch_norm_maps(const Tensor& a, const Tensor& gain, const Tensor& bias,
                       const BatchNormMapsOptions& options, BatchStatistics* statistics) {
  const Map map = map_of(a, gain, bias, options);
  const size_t channels = map.channels;
  const auto cases = static_cast<real>(map.images * map.positions());
  const real degrees = options.variance == Variance::unbiased ? cases - 1 : cases;

  Tensor moments({map.images, 3, channels});
  map_norm::for_each_image(map, [=, x = a.data(), m = moments.data()](size_t n, size_t) {
    real* const own = m + 3 * n * channels;
    map_norm::moments(map, x + n * map.area(), own, own + 2 * channels, own + channels);
  });
  const BatchStatistics batch = merge(map, moments.data(), degrees);
  if (statistics != nullptr) *statistics = batch;
  Tensor inverse({channels}), y(map_norm::out_shape(map, a));
  column_norm::invert(batch.variance.data(), options.epsilon, 0, channels, inverse.data());
  const Tensor mean = batch.mean;
  map_norm::for_each_image(map, [=, x = a.data(), out = y.data(), mu = mean.data(), inv = inverse.data(),
                                 g = gain.data(), b = bias.data()](size_t n, size_t) {
    map_norm::normalize(map, x + n * map.area(), {mu, inv}, {g, b}, out + n * map.out_area());
  });

  const Op op = {options.then.relu ? "batch_norm_maps_relu" : "batch_norm_maps", options.then.kind()};
  return record(op, y, {a, gain, bias}, [=] {
    const map_norm::Statistics s = {mean.data(), inverse.data()};
    const map_norm::Affine affine = {gain.data(), bias.data()};
    const size_t shares = map_norm::shares(map);
    const size_t stride = 4 * channels;  // a share's dgain and dbias, and two sums that are of no use here
    Tensor partial = Tensor::zeros({shares, stride}), dgain = Tensor::zeros({channels}),
           dbias = Tensor::zeros({channels});
    map_norm::for_each_image(
        map, [=, x = a.data(), dy = y.gradient_data(), sums = partial.data()](size_t n, size_t share) {
          const real* const in = x + n * map.area();
          real* const own = sums + share * stride;
          const real* const u = map_norm::upstream(map, in, s, affine, dy + n * map.out_area());
          map_norm::sum_derivatives(map, in, s, u, affine.gain, own, own + channels, own + 2 * channels,
                                    own + 3 * channels);
        });
    for (size_t share = 0; share < shares; ++share)
      for (size_t c = 0; c < channels; ++c) {
        dgain[c] += partial[share * stride + c];
        dbias[c] += partial[share * stride + channels + c];
      }
    contribute(gain, [from = dgain.data()](size_t c) { return from[c]; });
    contribute(bias, [from = dbias.data()](size_t c) { return from[c]; });
    if (!a.needs_gradient()) return;
    for (size_t c = 0; c < channels; ++c) {
      dgain[c] *= gain[c] / degrees;
      dbias[c] *= gain[c] / cases;
    }
    const GradientSink sink = a.gradient_sink();
    map_norm::for_each_image(map, [=, x = a.data(), dy = y.gradient_data(), level = dbias.data(),
                                   along = dgain.data()](size_t n, size_t) {
      const real* const in = x + n * map.area();
      const real* const u = map_norm::upstream(map, in, s, affine, dy + n * map.out_area());
      map_norm::input_derivative(map, in, s, u, affine.gain, {level, along, map.images * map.positions()},
                                 sink.values + n * map.area(), sink.add);
    });
  });
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
