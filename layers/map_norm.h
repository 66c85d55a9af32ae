#pragma once
// The arithmetic of normalization on one image [H x W x C], shared by the schemes for feature maps: they
// differ only in which numbers share a mean and a deviation.
//
//   per image and channel    instance norm
//   ... merged over groups of channels: group norm, over all channels: layer norm
//   ... merged over the images of a batch: batch norm
//
// Every image is brought into the cache once, forward and backward, and relu and max pooling behind the
// normalization happen in the same visit. Numbers that belong to a channel are repeated along a row of the
// image, so that inner loops are long whatever the number of channels is.

#include "core/ops/pool2d.h"
#include "core/parallel.h"
#include "core/tensor.h"
#include "layers/column_norm.h"

namespace lamina::map_norm {

struct Map {
  size_t images, height, width, channels;
  size_t border = 0;      ///< positions this close to the edge are left out of the statistics
  bool per_unit = false;  ///< gain and bias are [H x W x C], else [C]
  ReluPool then = {};

  size_t row() const { return width * channels; }
  size_t area() const { return height * row(); }
  size_t out_area() const { return height / then.window * (width / then.window) * channels; }
  Shape out() const { return {images, height / then.window, width / then.window, channels}; }
  /// Positions that enter the statistics of one channel of one image.
  size_t positions() const { return (height - 2 * border) * (width - 2 * border); }
};

/// The map of an input [N x H x W x C] (or [N x C], as 1 x 1 maps) with gain and bias that fit it; throws
/// Error naming the shapes otherwise, or when the border leaves nothing or the window does not fit.
Map map_of(const char* op, const Tensor& a, const Tensor& gain, const Tensor& bias, size_t border,
           const ReluPool& then);

/// The shape of the output for an input of this shape: [N x C] stays a matrix.
Shape out_shape(const Map& map, const Tensor& a);

/// mean_c and spread_c = mean of (a - mean_c)^2, over the positions inside the border; `rest`, if given,
/// receives what rounding has cost the means, mean of (a - mean_c), of which spread_c is then free.
void moments(const Map& map, const real* a, real* mean, real* spread, real* rest = nullptr);

using column_norm::Statistics;  // of each channel
struct Affine {
  const real *gain, *bias;
};

/// y = relu_pool(n gain + bias) with n = (a - mean) / deviation
void normalize(const Map& map, const real* a, const Statistics& s, const Affine& affine, real* y);

/// u = the derivative for n gain + bias, from dy behind relu and pool. The result stays valid until the
/// next call in the same share.
const real* upstream(const Map& map, const real* a, const Statistics& s, const Affine& affine,
                     const real* dy);

/// dgain += u n, dbias += u, each summed over what shares the parameter;
/// level_c = sum of u gain and along_c = sum of u gain n over all positions of channel c
void sum_derivatives(const Map& map, const real* a, const Statistics& s, const real* u, const real* gain,
                     real* dgain, real* dbias, real* level, real* along);

/// Means of u gain and of u gain n over the `members` numbers that share statistics, for each channel.
struct Means {
  const real *level, *along;
  size_t members;
};

/// da = (u gain - level_c - n along_c) / deviation, the last two terms only inside the border. A number that is
/// the only member is its own mean: da is 0, and not the rounding of u gain divided by sqrt(epsilon).
void input_derivative(const Map& map, const real* a, const Statistics& s, const real* u, const real* gain,
                      const Means& means, real* da, bool add);

/// How many shares the images make; each can sum for itself, and the sums are added in the order of shares.
inline size_t shares(const Map& map) {
  return shares_of(map.images, grain_of(map.area(), elementwise_grain / 8));
}

/// Calls body(n, share) for every image n, in parallel when there is enough to do.
template <class Body>
void for_each_image(const Map& map, const Body& body) {
  const size_t count = shares(map);
  for_each_share(count, [&](size_t share) {
    const Range range = part_of(map.images, share, count);
    for (size_t n = range.begin; n < range.end; ++n) body(n, share);
  });
}

}  // namespace lamina::map_norm
