#pragma once
// The convolutional layer: a = x * W + b, images [N x H x W x C] (see core/ops/images/conv2d.h).

#include <string>

#include "core/ops/images/conv2d.h"
#include "core/parameters.h"
#include "layers/initializers.h"
#include "layers/norms/norm.h"

namespace lamina {

struct Conv2dOptions {
  size_t input = 0;   ///< channels
  size_t output = 0;  ///< channels
  size_t kernel = 3;  ///< height and width of the window
  size_t stride = 1;
  size_t padding = 0;
  bool bias = true;           ///< useless only before batch and instance norm (see layers/linear.h)
  Norm weights = Norm::none;  ///< none, or standardized over each output channel's window (layers/linear.h)
  Initializer initial = he();
};

/// Parameters: `name`.weight [kernel x kernel x input x output] (with standardization: `name`.raw_weight, and
/// `name`.gain [output]) and `name`.bias [output], which starts at 0.
/// Throws Error for a size or stride of 0, for another norm of the weights, and for initial values of another shape.
class Conv2d {
 public:
  Conv2d(Parameters& parameters, const std::string& name, const Conv2dOptions& options);

  /// x [N x H x W x input] -> [N x H' x W' x output], H' = (H + 2 padding - kernel) / stride + 1
  /// Throws Error naming the layer for other shapes.
  Tensor operator()(const Tensor& x) const;

  /// W as it is used: standardized, or the weight itself.
  Tensor effective_weight() const;

  Tensor weight;  ///< W, or v under standardization
  Tensor gain;    ///< empty without standardization
  Tensor bias;    ///< empty without bias
  Conv2dGeometry geometry;

 private:
  std::string name_;
};

}  // namespace lamina
