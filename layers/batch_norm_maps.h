#pragma once
// Batch normalization of feature maps: mu and sigma of each channel, over all positions of all cases.
//
// The function is that of layers/batch_norm.h. This one is made for maps, which have many positions and few
// channels, and takes relu and pooling along.

#include "core/ops/pool2d.h"
#include "layers/batch_norm.h"

namespace lamina {

struct BatchNormMapsOptions {
  real epsilon = real(1e-5);
  Variance variance = Variance::biased;
  ReluPool then = {};
};

/// Fused. a [N x H x W x C], gain [C], bias [C]. `statistics`, if given, receives those of this batch. Throws
/// Error for other shapes, no cases, or a single number per channel when unbiased.
Tensor batch_norm_maps(const Tensor& a, const Tensor& gain, const Tensor& bias,
                       const BatchNormMapsOptions& options = {}, BatchStatistics* statistics = nullptr);

/// The same function, written from primitive ops.
namespace composed {
Tensor batch_norm_maps(const Tensor& a, const Tensor& gain, const Tensor& bias,
                       const BatchNormMapsOptions& options = {});
}

}  // namespace lamina
