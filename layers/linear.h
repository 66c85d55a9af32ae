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

namespace lamina {

struct LinearOptions {
  size_t input = 0;
  size_t output = 0;
  bool bias = true;          ///< useless only before batch norm, see above
  bool weight_norm = false;  ///< W = gain v / norm2(v) per output; gain starts as norm2(v), so W as v
  /// W = gain (v - mean) / deviation / sqrt(input) per output (norms/weight_standardization.h); gain starts so that W
  /// is v - mean
  bool weight_standardization = false;
  Initializer initial = xavier();
};

/// Parameters: `name`.weight [input x output] (with weight norm `name`.direction, with standardization
/// `name`.raw_weight; with either `name`.gain) and `name`.bias [output], which starts at 0. Throws Error for a size of
/// 0, for both at once, for initial values of another shape, and under weight norm for an output whose weights all
/// start at 0.
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
  bool standardized_;
};

namespace composed {
/// What a layer with a bias computes, from primitive ops.
Tensor affine(const Linear& layer, const Tensor& x);
}  // namespace composed

}  // namespace lamina
