#pragma once
// Pooling of images [N x H x W x C]: one number for each window and channel. Windows that do not fit are
// dropped.

#include "core/tape.h"
#include "core/tensor.h"

namespace lamina {

struct Pool2dOptions {
  size_t window = 2;
  size_t stride = 0;  ///< 0: the window's size, so that windows do not overlap
};

/// y = max over the window; the derivative goes to the first largest, also of a window of -infinity. NaN wins, the
/// last of several.
/// Throws Error when the window is 0 or larger than the image.
Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options = {});

/// y = mean over the window. Throws Error when the window is 0 or larger than the image.
Tensor average_pool2d(const Tensor& x, const Pool2dOptions& options = {});

/// What often follows a layer, in one pass: y = max over window x window of max(x, 0). A window of 1 is relu
/// alone, of any shape, and without relu x itself.
struct ReluPool {
  bool relu = false;
  size_t window = 1;
  OpKind kind() const { return relu ? OpKind::relu : OpKind::other; }
};
Tensor relu_pool(const Tensor& x, const ReluPool& options);

/// The same functions from primitive ops.
namespace composed {
Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options = {});
Tensor average_pool2d(const Tensor& x, const Pool2dOptions& options = {});
Tensor relu_pool(const Tensor& x, const ReluPool& options);
}  // namespace composed

}  // namespace lamina
