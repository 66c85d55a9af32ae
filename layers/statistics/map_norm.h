#pragma once
// The arithmetic of normalization on one image [H x W x C], shared by the schemes for feature maps: they
// differ only in which numbers share a mean and a deviation.
//
//   per image and channel    instance norm
//   ... merged over groups of channels: group norm, over all channels: layer norm
//   ... merged over the images of a batch: batch norm
//
// Every image is brought into the cache once, forward and backward, and relu and max pooling after the
// normalization happen in the same visit. Numbers that belong to a channel are repeated along a row of the
// image, so that inner loops are long whatever the number of channels is.

#include "core/ops/images/pool2d.h"
#include "core/tensor.h"

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

/// Which numbers share a mean and a deviation: those of a group of channels in one image, or each channel's in all of
/// them, with D = N - lost degrees of freedom.
struct Sharing {
  bool over_images = false;
  size_t groups = 1;
  real lost = 0;
  bool measured = false;  ///< over images: `mean` and `variance` are those of a already
};

/// The op behind group norm and batch norm of maps. `mean` and `variance` [C] receive the statistics of the channels
/// where they are over all images. The result goes to `into`, a part of a larger tensor, or to a new tensor.
Tensor normalize(const Op& op, const Map& map, const Sharing& sharing, real epsilon, const Tensor& a,
                 const Tensor& gain, const Tensor& bias, Tensor mean = {}, Tensor variance = {},
                 const Tensor& into = {});

/// Mean and variance [C] of every channel over all images of a, alone, with D = N - lost.
void measure(const Map& map, real lost, const Tensor& a, Tensor mean, Tensor variance);

}  // namespace lamina::map_norm
