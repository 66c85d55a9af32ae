#pragma once
// The permutation-invariant MNIST classifier of Section 6.6: 784 - 1000 - 1000 - 10 with relu.
//
//   hidden:  h = relu(normalize(x W))
//   logits:  h W + b, under batch norm normalize(h W)
//
// Batch norm and weight norm act on all three layers, the others, ghost batch norm and batch renormalization among them, on
// the two hidden ones only. A normalized layer has no bias before its normalization, because Eq. 5 has none there; under
// layer norm one would have an effect.

#include <string>
#include <vector>

#include "layers/linear.h"
#include "layers/norms/normalization.h"

namespace lamina::mnist {

struct ModelOptions {
  Norm norm = Norm::none;
  Variance variance = Variance::biased;  ///< of batch norm; the paper uses the unbiased one for batch size 4
  size_t pixels = 784;
  size_t hidden = 1000;
  size_t classes = 10;
};

class Model {
 public:
  Model(Parameters& parameters, const ModelOptions& options);

  /// images [N x pixels] -> logits [N x classes]
  Tensor operator()(const Tensor& images, Mode mode);

 private:
  struct Layer {
    Linear linear;
    Normalization normalize;
  };
  std::vector<Layer> layers_;
};

}  // namespace lamina::mnist
