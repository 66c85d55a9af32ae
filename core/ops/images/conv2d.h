#pragma once
// Convolution of images (cross-correlation, as everywhere in the field).
//
//   y[n, i, j, o] = bias[o] + sum over u, v, c of x[n, i stride + u - padding, j stride + v - padding, c]
//                                                * weight[u, v, c, o]
//
// where x is zero outside the image. Images are [N x H x W x C], see core/ops/shape/layout.h.

#include "core/tensor.h"

namespace lamina {

struct Conv2dGeometry {
  size_t stride = 1;
  size_t padding = 0;  ///< rows and columns of zeros around the image
};

/// Fused. x [N x H x W x C], weight [K x L x C x O], bias [O] or an empty tensor;
/// y [N x (H + 2 padding - K) / stride + 1 x (W + 2 padding - L) / stride + 1 x O], rounded down.
/// Throws Error when the channels differ, the kernel does not fit into the padded image or the stride is 0.
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dGeometry& geometry = {});

/// The same function from primitive ops: the patches, gathered, times the weights.
namespace composed {
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dGeometry& geometry = {});
}

}  // namespace lamina
