#pragma once
// The fully connected layer: a = x W + b.
//
// Before batch norm b is useless, because the mean of each unit is subtracted again. Before layer norm only
// the mean of b over the units is useless: the differences between its elements change what the units respond
// to, and the bias after the normalization cannot replace them. Keep b there, unless a formula such as Eq. 5
// has none.

#include <string>

#include "core/parameters.h"
#include "core/tensor.h"
#include "layers/initializers.h"
#include "layers/norms/norm.h"

namespace lamina {

struct LinearOptions {
  size_t input = 0;
  size_t output = 0;
  bool bias = true;  ///< useless only before batch norm, see above
  /// Of W: none; weight, W = gain v / norm2(v) per output, whose gain starts as norm2(v), so W as v; or standardized,
  /// W = gain (v - mean) / deviation / sqrt(input) per output (norms/weight_standardization.h), whose gain starts so that W
  /// is v - mean.
  Norm weights = Norm::none;
  Initializer initial = xavier();
};

/// Parameters: `name`.weight [input x output] (with weight norm `name`.direction, with standardization
/// `name`.raw_weight; with either `name`.gain) and `name`.bias [output], which starts at 0. Throws Error for a size of
/// 0, for another norm of the weights, for initial values of another shape, and under weight norm for an output whose
/// weights all start at 0.
class Linear {
 public:
  Linear(Parameters& parameters, const std::string& name, const LinearOptions& options);

  /// x [... x input] -> [... x output]. Throws Error naming the layer for other shapes.
  Tensor operator()(const Tensor& x) const;

  /// W as it is used: under weight norm w = g v / norm2(v), or standardized.
  Tensor effective_weight() const;

  Tensor weight;  ///< W, or v under weight norm or standardization
  Tensor gain;    ///< empty without these
  Tensor bias;    ///< empty without bias

 private:
  std::string name_;
  Norm weights_;
};

namespace composed {
/// What a layer with a bias computes, from primitive ops.
Tensor affine(const Linear& layer, const Tensor& x);
}  // namespace composed

}  // namespace lamina
