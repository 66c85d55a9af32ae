#include "layers/group_norm.h"

#include <algorithm>
#include <cmath>

#include "core/ops.h"
#include "core/ops/map.h"
#include "layers/map_norm.h"
#include "layers/named.h"

namespace lamina {

using map_norm::Map;

namespace {

void require_groups(const Map& map, const Tensor& a, size_t groups) {
  if (groups == 0 || map.channels % groups != 0)
    fail("group_norm: ", a.shape(), " has ", map.channels, " channels, which do not divide into ", groups,
         " groups");
}

/// Merges mean and spread of the channels of each group, in place, and turns the spread into 1 / deviation:
/// mu = mu_0 + mean of (mu_c - mu_0),  sigma^2 = mean of spread_c + (mu_c - mu)^2
void merge_groups(size_t channels, size_t groups, real epsilon, real* mean, real* spread) {
  const size_t members = channels / groups;
  const real share = 1 / static_cast<real>(members);
  for (size_t first = 0; first < channels; first += members) {
    real distance = 0, variance = 0;
    for (size_t c = first; c < first + members; ++c) distance += mean[c] - mean[first];
    const real mu = mean[first] + distance * share;
    for (size_t c = first; c < first + members; ++c)
      variance += (spread[c] + (mean[c] - mu) * (mean[c] - mu)) * share;
    std::fill_n(mean + first, members, mu);
    std::fill_n(spread + first, members, 1 / std::sqrt(variance + epsilon));
  }
}

/// Replaces the sums of the channels of each group by their mean over the `positions` that share statistics.
void average_groups(size_t channels, size_t groups, size_t positions, real* sums) {
  const size_t members = channels / groups;
  for (size_t first = 0; first < channels; first += members) {
    real total = 0;
    for (size_t c = first; c < first + members; ++c) total += sums[c];
    std::fill_n(sums + first, members, total / static_cast<real>(members * positions));
  }
}

}  // namespace

/// da = (u gain - mean(u gain) - n mean(u gain n)) / deviation,  dgain = sum u n,  dbias = sum u, where u is
/// the derivative in front of relu and pool. The means are sums over the group divided by the number of those
/// of its units that entered the statistics; units of the border lack these two terms.
Tensor group_norm(const Tensor& a, const Tensor& gain, const Tensor& bias, const GroupNormOptions& options) {
  const Map map = map_norm::map_of("group_norm", a, gain, bias, options.border, options.then);
  require_groups(map, a, options.groups);
  const size_t channels = map.channels, groups = options.groups;
  Tensor y(map_norm::out_shape(map, a)), statistics({map.images, 2, channels});
  const map_norm::Affine affine = {gain.data(), bias.data()};
  map_norm::for_each_image(map, [=, x = a.data(), out = y.data(), kept = statistics.data(),
                                 epsilon = options.epsilon](size_t n, size_t) {
    real *const mean = kept + n * 2 * channels, *const inverse = mean + channels;
    map_norm::moments(map, x + n * map.area(), mean, inverse);
    merge_groups(channels, groups, epsilon, mean, inverse);
    map_norm::normalize(map, x + n * map.area(), {mean, inverse}, affine, out + n * map.out_area());
  });

  const Op op = {options.then.relu ? "group_norm_relu" : "group_norm", options.then.kind()};
  return record(op, y, {a, gain, bias}, [=] {
    const bool want_input = a.needs_gradient();
    const GradientSink sink = want_input ? a.gradient_sink() : GradientSink{nullptr, false};
    // dgain, dbias and a place for level and along, one of each a share.
    const size_t shares = map_norm::shares(map);
    const size_t units = gain.size(), stride = 2 * units + 2 * channels;
    Tensor partial = Tensor::zeros({shares, stride});
    map_norm::for_each_image(
        map, [=, x = a.data(), dy = y.gradient_data(), kept = statistics.data(), g = gain.data(),
              b = bias.data(), sums = partial.data()](size_t n, size_t share) {
          const real* const in = x + n * map.area();
          const real* const mean = kept + n * 2 * channels;
          const map_norm::Statistics s = {mean, mean + channels};
          real* const dgain = sums + share * stride;
          real *const level = dgain + 2 * units, *const along = level + channels;
          const real* const u = map_norm::upstream(map, in, s, {g, b}, dy + n * map.out_area());
          map_norm::sum_derivatives(map, in, s, u, g, dgain, dgain + units, level, along);
          if (!want_input) return;
          average_groups(channels, groups, map.positions(), level);
          average_groups(channels, groups, map.positions(), along);
          map_norm::input_derivative(map, in, s, u, g, {level, along, channels / groups * map.positions()},
                                     sink.values + n * map.area(), sink.add);
        });
    const real* const sums = partial.data();
    contribute_summed_rows(gain, shares, [=](size_t share, size_t i) { return sums[share * stride + i]; });
    contribute_summed_rows(bias, shares,
                           [=](size_t share, size_t i) { return sums[share * stride + units + i]; });
  });
}

namespace composed {

Tensor group_norm(const Tensor& a, const Tensor& gain, const Tensor& bias, const GroupNormOptions& options) {
  const Map map = map_norm::map_of("group_norm", a, gain, bias, options.border, options.then);
  require_groups(map, a, options.groups);
  const size_t members = map.channels / options.groups, positions = map.height * map.width;
  // One row for all that shares statistics, and ones where it enters them.
  const Tensor maps = a.reshape({map.images, map.height, map.width, map.channels});
  const Tensor rows = channels_first(maps).reshape({map.images * options.groups, members * positions});
  Tensor inside = Tensor::zeros({members * positions});
  for (size_t i = 0; i < inside.size(); ++i) {
    const size_t h = i % positions / map.width, w = i % map.width;
    inside[i] =
        h >= map.border && h < map.height - map.border && w >= map.border && w < map.width - map.border;
  }
  const auto count = static_cast<real>(members * map.positions());
  const auto mean = [&](const Tensor& of) { return sum_columns(of * inside) / count; };
  const Tensor once = rows - mean(rows), centered = once - mean(once);  // twice, as in composed::batch_norm
  const Tensor deviation = sqrt(mean(square(centered)) + options.epsilon);
  const Tensor normalized =
      channels_last((centered / deviation).reshape({map.images, map.channels, map.height, map.width}));
  const size_t period = gain.size();
  const Tensor y =
      normalized.reshape({a.size() / period, period}) * gain.reshape({period}) + bias.reshape({period});
  return composed::relu_pool(y.reshape(maps.shape()), options.then).reshape(map_norm::out_shape(map, a));
}

}  // namespace composed

GroupNorm::GroupNorm(Parameters& parameters, const std::string& name, const Shape& shape,
                     const GroupNormOptions& chosen, real initial_gain)
    : gain(parameters.add(name + ".gain", Tensor::full(shape, initial_gain))),
      bias(parameters.add(name + ".bias", Tensor::zeros(shape))),
      options(chosen),
      name_(name) {}

Tensor GroupNorm::operator()(const Tensor& a, const ReluPool& then) const {
  GroupNormOptions all = options;
  if (then.relu || then.window != 1) all.then = then;
  return in_layer(name_, [&] { return group_norm(a, gain, bias, all); });
}

}  // namespace lamina
