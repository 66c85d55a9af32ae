#pragma once
// The small convolutional network of our experiment for Section 6.7.
//
//   conv 5 x 5, 32 channels -> normalize -> relu -> max pool 2 x 2       28 x 28 -> 14 x 14
//   conv 5 x 5, 64 channels -> normalize -> relu -> max pool 2 x 2       14 x 14 ->  7 x  7
//   512 hidden units        -> normalize -> relu
//   10 logits
//
// Convolutions pad with 2 zeros, so their maps are as large as their inputs, and windows at the border extend
// beyond the image: their units have different statistics, which is the paper's explanation for its
// observation. Normalized layers have no bias before their normalization, as in Eq. 5.

#include <array>

#include "layers/conv2d.h"
#include "layers/linear.h"
#include "layers/norms/normalization.h"

namespace lamina::convnet {

struct ModelOptions {
  Norm norm = Norm::none;
  Variance variance = Variance::biased;  ///< of batch norm
  size_t side = 28;                      ///< of the square images; a multiple of 4
  std::array<size_t, 2> channels = {32, 64};
  size_t hidden = 512;
  size_t classes = 10;
};

/// The tensors of one convolutional layer, [N x H x W x C] each.
struct LayerView {
  Tensor summed_inputs;  ///< a
  Tensor outputs;        ///< relu(normalize(a)), before pooling
};

class Model {
 public:
  Model(Parameters& parameters, const ModelOptions& options);

  /// images [N x side * side] (or any shape of that size) -> logits [N x classes]
  Tensor operator()(const Tensor& images, Mode mode);

  /// The convolutional layers in evaluation mode, for the study of positions.
  std::array<LayerView, 2> inspect(const Tensor& images);

  static constexpr size_t kernel = 5, padding = 2, pool = 2;

 private:
  struct Convolution {
    Conv2d convolve;
    Normalization normalize;
  };
  Convolution convolution(Parameters& parameters, const std::string& name, size_t input, size_t output,
                          size_t side) const;

  ModelOptions options_;
  std::array<Convolution, 2> convolutions_;
  Linear hidden_, logits_;
  Normalization normalize_hidden_;
};

}  // namespace lamina::convnet
