#include "layers/statistics/map_norm.h"

#include <algorithm>
#include <cmath>

#include "core/memory/workspace.h"
#include "core/ops/images/pool_rows.h"
#include "core/ops/map.h"
#include "core/ops/shape/layout.h"
#include "layers/statistics/column_norm.h"

namespace lamina::map_norm {

Map map_of(const char* op, const Tensor& a, const Tensor& gain, const Tensor& bias, size_t border,
           const ReluPool& then) {
  const Shape& s = a.shape();
  if (s.rank() != 4 && s.rank() != 2)
    fail(op, ": maps [N x height x width x channels] or a matrix are needed, this is ", s);
  Map map = {.images = s[0],
             .height = s.rank() == 4 ? s[1] : 1,
             .width = s.rank() == 4 ? s[2] : 1,
             .channels = s[-1],
             .border = border,
             .then = then};
  const Shape unit = {map.height, map.width, map.channels};
  if (map.area() == 0) fail(op, ": ", s, " has nothing to normalize");
  if (gain.shape() != bias.shape() || (gain.shape() != Shape{map.channels} && gain.shape() != unit))
    fail(op, ": input ", s, ", gain ", gain.shape(), ", bias ", bias.shape(), "; both must be [",
         map.channels, "] or both ", unit, layout_hint(s, gain.columns()));
  if (border >= (std::min(map.height, map.width) + 1) / 2)  // twice the border may overflow
    fail(op, ": a border of ", border, " leaves nothing of maps ", s);
  if (then.window == 0 || then.window > std::min(map.height, map.width))
    fail(op, ": the window ", then.window, " x ", then.window, " does not fit into maps ", s);
  map.per_unit = gain.shape().rank() == 3;
  return map;
}

Shape out_shape(const Map& map, const Tensor& a) { return a.shape().rank() == 2 ? a.shape() : map.out(); }

namespace {

using column_norm::Statistics;

// Purposes of scratch memory.
struct RowsOfMap;
struct Upstream;

/// An image with its statistics, gain and bias for each channel.
struct Image {
  const Map& map;
  const real* a;
  Statistics s;
  const real *gain, *bias;
};

/// Repeats the numbers of the channels for every column.
void repeat(const real* channel, const Map& map, real* row) {
  for (size_t j = 0; j < map.width; ++j) std::copy_n(channel, map.channels, row + j * map.channels);
}

/// into_c = sum over the columns [begin, end) of a row
void fold(const real* row, const Map& map, size_t begin, size_t end, real* into) {
  column_sums(end - begin, 0, map.channels, into, [&, first = row + begin * map.channels](size_t j) {
    return [column = first + j * map.channels](size_t c) { return column[c]; };
  });
}

/// Mean, inverse deviation, gain and bias along a row of the image.
class Rows {
 public:
  /// Takes `extra` further rows of scratch memory, at spare().
  Rows(const Image& image, size_t extra)
      : image_(image), size_(image.map.row()), memory_(scratch<RowsOfMap>((4 + extra) * size_)) {
    repeat(image.s.mean, image.map, memory_);
    repeat(image.s.inverse_deviation, image.map, memory_ + size_);
    if (image.map.per_unit) return;
    repeat(image.gain, image.map, memory_ + 2 * size_);
    repeat(image.bias, image.map, memory_ + 3 * size_);
  }
  Statistics statistics() const { return {memory_, memory_ + size_}; }
  const real* gain(size_t h) const {
    return image_.map.per_unit ? image_.gain + h * size_ : memory_ + 2 * size_;
  }
  const real* bias(size_t h) const {
    return image_.map.per_unit ? image_.bias + h * size_ : memory_ + 3 * size_;
  }
  real* spare() const { return memory_ + 4 * size_; }

  /// y = n gain + bias for rows [h, h + count)
  void normalize(size_t h, size_t count, real* y) const {
    for (size_t k = h; k < h + count; ++k, y += size_)
      column_norm::apply(image_.a + k * size_, statistics(), gain(k), bias(k), 0, size_, y);
  }

 private:
  const Image& image_;
  size_t size_;
  real* memory_;
};

bool nothing_follows(const Map& map) { return !map.then.relu && map.then.window == 1; }

/// mean_c and spread_c = mean of (a - mean_c)^2, over the positions inside the border; `rest`, if given,
/// receives the rounding error of the means, mean of (a - mean_c), for which spread_c is then corrected.
/// Distances from the first number of the channel lose no digits to a mean that is far from zero.
void moments(const Map& map, const real* a, real* mean, real* spread, real* rest = nullptr) {
  real *const sum = scratch<RowsOfMap>(3 * map.row()), *const center = sum + map.row();
  const size_t row = map.row(), first = map.border, height = map.height - 2 * first;
  const auto count = static_cast<real>(map.positions());
  const real* const start = a + (first * map.width + first) * map.channels;
  // into_c = mean of then(a - from_c)
  const auto mean_distance = [&](const real* from, real* into, const auto& then) {
    repeat(from, map, center);
    column_sums(height, 0, row, sum, [=](size_t h) {
      return [=, from_row = a + (first + h) * row](size_t i) { return then(from_row[i] - center[i]); };
    });
    fold(sum, map, first, map.width - first, into);
    for (size_t c = 0; c < map.channels; ++c) into[c] /= count;
  };
  mean_distance(start, mean, [](real distance) { return distance; });
  for (size_t c = 0; c < map.channels; ++c) mean[c] += start[c];
  if (rest == nullptr) return mean_distance(mean, spread, [](real distance) { return distance * distance; });
  repeat(mean, map, center);
  real* const squares = center + row;
  two_column_sums(height, 0, row, sum, squares, [=](size_t h) {
    return [=, from_row = a + (first + h) * row](size_t i) {
      const real distance = from_row[i] - center[i];
      return TwoSums{distance, distance * distance};
    };
  });
  fold(sum, map, first, map.width - first, rest);
  fold(squares, map, first, map.width - first, spread);
  for (size_t c = 0; c < map.channels; ++c) {
    rest[c] /= count;
    spread[c] = spread[c] / count - rest[c] * rest[c];
  }
}

/// y = relu_pool(n gain + bias) with n = (a - mean) / deviation
void normalize(const Image& image, real* y) {
  const Map& map = image.map;
  const size_t window = map.then.window, out_row = map.width / window * map.channels;
  const Rows rows(image, window);
  for (size_t i = 0; i < map.height / window; ++i) {
    real* const out = y + i * out_row;
    if (nothing_follows(map)) {
      rows.normalize(i, 1, out);
      continue;
    }
    rows.normalize(i * window, window, rows.spare());
    pool_rows::forward(rows.spare(), map.width, map.channels, map.then, out);
  }
}

/// u = the derivative for n gain + bias, from dy after relu and pooling. The result stays valid until the
/// next call in the same share.
const real* upstream(const Image& image, const real* dy) {
  const Map& map = image.map;
  if (nothing_follows(map)) return dy;
  real* const u = scratch<Upstream>(map.area());
  const size_t window = map.then.window, out_row = map.width / window * map.channels;
  const size_t covered = map.height / window * window;
  const Rows rows(image, window);
  for (size_t i = 0; i < map.height / window; ++i) {
    rows.normalize(i * window, window, rows.spare());
    pool_rows::backward(rows.spare(), map.width, map.channels, map.then, dy + i * out_row,
                        u + i * window * map.row());
  }
  std::fill_n(u + covered * map.row(), (map.height - covered) * map.row(), real{0});
  return u;
}

/// dgain += u n, dbias += u, each summed over all elements that share the parameter;
/// level_c = sum of u gain and along_c = sum of u gain n over all positions of channel c
void sum_derivatives(const Image& image, const real* u, real* dgain, real* dbias, real* level, real* along) {
  const Map& map = image.map;
  const size_t row = map.row();
  const Rows rows(image, 2);
  const real *const mean = rows.statistics().mean, *const inverse = rows.statistics().inverse_deviation;
  real *const sum = rows.spare(), *const sum_along = sum + row;
  if (map.per_unit) {
    std::fill_n(sum, 2 * row, real{0});
    for (size_t h = 0; h < map.height; ++h)
#pragma omp simd
      for (size_t i = 0; i < row; ++i) {
        const size_t k = h * row + i;
        const real n = (image.a[k] - mean[i]) * inverse[i];
        dgain[k] += u[k] * n;
        dbias[k] += u[k];
        sum[i] += u[k] * image.gain[k];
        sum_along[i] += u[k] * image.gain[k] * n;
      }
  } else {
    column_norm::sum_derivatives({.rows = map.height, .width = row, .values = image.a}, u, {mean, inverse}, 0,
                                 row, sum, sum_along);
  }
  fold(sum, map, 0, map.width, level);
  fold(sum_along, map, 0, map.width, along);
  for (size_t c = 0; c < map.channels && !map.per_unit; ++c) {
    dgain[c] += along[c];
    dbias[c] += level[c];
    level[c] *= image.gain[c];
    along[c] *= image.gain[c];
  }
}

/// da = (u gain - level_c - n along_c) / deviation, the last two terms, means over the `members` numbers that
/// share statistics, only inside the border. A number that is the only member is its own mean: da is 0, not
/// the rounding error of u gain divided by sqrt(epsilon).
void input_derivative(const Image& image, const real* u, const real* level, const real* along, size_t members,
                      real* da, bool add) {
  const Map& map = image.map;
  // A single number that is its own mean, which enters nothing else: exactly 0, without a rounding error.
  if (members == 1 && map.border == 0) {
    if (!add) std::fill_n(da, map.area(), real{0});
    return;
  }
  const size_t row = map.row(), edge = map.border * map.channels;
  const Rows rows(image, 3);
  const real *const mean = rows.statistics().mean, *const inverse = rows.statistics().inverse_deviation;
  real *const level_row = rows.spare(), *const along_row = level_row + row, *const zeros = along_row + row;
  repeat(level, map, level_row);
  repeat(along, map, along_row);
  std::fill_n(zeros, row, real{0});
  for (real* const each : {level_row, along_row}) {
    std::fill_n(each, edge, real{0});
    std::fill_n(each + row - edge, edge, real{0});
  }
  for (size_t h = 0; h < map.height; ++h) {
    const bool inside = h >= map.border && h < map.height - map.border;
    const real *const l = inside ? level_row : zeros, *const m = inside ? along_row : zeros;
    const real* const g = rows.gain(h);
#pragma omp simd
    for (size_t i = 0; i < row; ++i) {
      const size_t k = h * row + i;
      const real n = (image.a[k] - mean[i]) * inverse[i];
      da[k] = (add ? da[k] : 0) + (u[k] * g[i] - l[i] - n * m[i]) * inverse[i];
    }
  }
}

/// How many shares the images make; each share has its own sums, which are added in the order of shares.
size_t shares_of_images(const Map& map) {
  return shares_of(map.images, grain_of(map.area(), elementwise_grain / 8));
}

/// Calls body(n, share) for every image n, in parallel when there is enough to do.
template <class Body>
void for_each_image(const Map& map, const Body& body) {
  const size_t count = shares_of_images(map);
  for_each_share(count, [&](size_t share) {
    const Range range = part_of(map.images, share, count);
    for (size_t n = range.begin; n < range.end; ++n) body(n, share);
  });
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

/// Merges the moments of the images, [images x (mean, rest, spread) x channels]:
///   mu = mean of (mean_n + rest_n),  sigma^2 = P sum of (spread_n + (mean_n + rest_n - mu)^2) / degrees
/// with P positions per image
void merge_images(const Map& map, const real* moments, real degrees, real* mean, real* variance) {
  const size_t channels = map.channels, image = 3 * channels;
  column_norm::moments({.rows = map.images, .width = image, .values = moments}, 1, 0, channels, mean,
                       variance);
  Tensor off({channels});
  const auto images = static_cast<real>(map.images);
  two_column_sums(map.images, 0, channels, off.data(), variance, [=](size_t n) {
    return [=, of_image = moments + n * image](size_t c) {
      const real distance = of_image[c] - mean[c] + of_image[channels + c];
      return TwoSums{distance, of_image[2 * channels + c] + distance * distance};
    };
  });
  const real weight = static_cast<real>(map.positions()) / degrees;
  const real* const rest = off.data();
  for (size_t c = 0; c < channels; ++c) {
    variance[c] = weight * (variance[c] - rest[c] * (rest[c] / images));
    mean[c] += rest[c] / images;
  }
}

}  // namespace

void measure(const Map& map, real lost, const Tensor& a, Tensor mean, Tensor variance) {
  Tensor of_images({map.images, 3, map.channels});
  for_each_image(map, [&, x = a.data(), m = of_images.data()](size_t n, size_t) {
    real* const own = m + 3 * n * map.channels;
    moments(map, x + n * map.area(), own, own + 2 * map.channels, own + map.channels);
  });
  const auto cases = static_cast<real>(map.images * map.positions());
  merge_images(map, of_images.data(), cases - lost, mean.data(), variance.data());
}

/// With u the derivative before relu and pooling, and means over all elements that share statistics:
///
///   dgain = sum u n,  dbias = sum u,  da = (u gain - mean(u gain) - n mean(u gain n)) / deviation
///
/// The means are sums divided by the number of those of the units that entered the statistics (the second one
/// by D); units of the border lack these two terms. Where each image has its own statistics, one visit per
/// image computes everything.
Tensor normalize(const Op& op, const Map& map, const Sharing& sharing, real epsilon, const Tensor& a,
                 const Tensor& gain, const Tensor& bias, Tensor mean, Tensor variance, const Tensor& into) {
  const size_t channels = map.channels, groups = sharing.groups;
  const bool over_images = sharing.over_images;
  const size_t members = (over_images ? map.images : channels / groups) * map.positions();
  const auto cases = static_cast<real>(members);
  Tensor y = into.defined() ? into : Tensor(out_shape(map, a));
  Tensor statistics({over_images ? 1 : map.images, 2, channels});
  const auto image = [=](size_t n) {
    const real* const means = statistics.data() + (over_images ? 0 : n * 2 * channels);
    return Image{map, a.data() + n * map.area(), {means, means + channels}, gain.data(), bias.data()};
  };
  if (over_images) {
    if (!sharing.measured) measure(map, sharing.lost, a, mean, variance);
    std::ranges::copy(mean.values(), statistics.data());
    column_norm::invert(variance.data(), epsilon, 0, channels, statistics.data() + channels);
  }
  for_each_image(map, [&, kept = statistics.data(), out = y.data_unwatched()](size_t n, size_t) {
    const Image in = image(n);
    if (!over_images) {
      real* const own = kept + n * 2 * channels;
      moments(map, in.a, own, own + channels);
      merge_groups(channels, groups, epsilon, own, own + channels);
    }
    normalize(in, out + n * map.out_area());
  });

  return record(op, y, {a, gain, bias}, [=, degrees = cases - sharing.lost] {
    const GradientSink da = a.needs_gradient() ? a.gradient_sink() : GradientSink{nullptr, false};
    const real* const dy = y.gradient_data();
    // dgain, dbias and room for level and along, one of each per share.
    const size_t shares = shares_of_images(map), units = gain.size(), stride = 2 * (units + channels);
    Tensor partial = Tensor::zeros({shares, stride});
    real* const sums = partial.data();
    for_each_image(map, [&](size_t n, size_t share) {
      real *const dgain = sums + share * stride, *const level = dgain + 2 * units,
                  *const along = level + channels;
      const Image in = image(n);
      const real* const u = upstream(in, dy + n * map.out_area());
      sum_derivatives(in, u, dgain, dgain + units, level, along);
      if (over_images || da.values == nullptr) return;
      average_groups(channels, groups, map.positions(), level);
      average_groups(channels, groups, map.positions(), along);
      input_derivative(in, u, level, along, members, da.values + n * map.area(), da.add);
    });
    if (over_images && da.values != nullptr) {
      Tensor means({2, channels});
      real *const along = means.data(), *const level = along + channels;
      column_sums(shares, 0, 2 * channels, along,
                  [=](size_t share) { return [=](size_t i) { return sums[share * stride + i]; }; });
      for (size_t c = 0; c < channels; ++c) {
        along[c] *= gain[c] / degrees;
        level[c] *= gain[c] / cases;
      }
      for_each_image(map, [&](size_t n, size_t) {
        const Image in = image(n);
        input_derivative(in, upstream(in, dy + n * map.out_area()), level, along, members,
                         da.values + n * map.area(), da.add);
      });
    }
    // Last: da, written above, may be the gradient of the same tensor.
    contribute_summed_rows(gain, shares, [=](size_t share, size_t i) { return sums[share * stride + i]; });
    contribute_summed_rows(bias, shares,
                           [=](size_t share, size_t i) { return sums[share * stride + units + i]; });
  });
}

}  // namespace lamina::map_norm
