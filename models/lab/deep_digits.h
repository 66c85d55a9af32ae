#pragma once
// A deep classifier of digits whose inside the labs can see and change: 784 - width - ... - width - 10.
//
//   h_l = f(then(normalize(h_{l-1} W_l)))     l = 1 ... depth
//   logits = h_depth W + b
//
// As in models/mnist, a normalized layer has no bias before its normalization; other than there, no scheme normalizes
// the logits, so that the output layers of all are alike.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/ops/elementwise.h"
#include "layers/linear.h"
#include "layers/norms/normalization.h"
#include "models/training/digit_experiment.h"

namespace lamina::lab {

struct DeepDigitsOptions {
  DigitOptions digits = {};
  size_t depth = 6, width = 64;
  real gain = 1;  ///< initial value of every gain but those of weight norm and standardization
  Tensor (*function)(const Tensor& a) = relu;  ///< f
  /// Changes what f gets in hidden layer number `layer`, from 0: noise, for example. Empty: nothing.
  std::function<Tensor(const Tensor& normalized, size_t layer, Mode mode)> then = {};
};

/// One hidden layer's tensors in a forward pass, [cases x width] each.
struct HiddenLayer {
  Tensor summed_inputs;  ///< a = h W
  Tensor seen;           ///< what f gets: then(normalize(a))
};

class DeepDigits final : public DigitExperiment {
 public:
  /// `data` must outlive this. Throws Error as DigitExperiment does.
  DeepDigits(const MnistData& data, const DeepDigitsOptions& options);

  Tensor logits(const Tensor& images, Mode mode) override;
  Optimizer& optimizer() override { return *optimizer_; }

  /// The logits, and every hidden layer on the way to them.
  Tensor logits(const Tensor& images, Mode mode, std::vector<HiddenLayer>& hidden);

  /// Takes the training step number `step`, from 0: loss, backward pass, update. Returns the loss.
  double train(std::uint64_t step);

  /// W_l of the hidden layer number `layer`, from 0, as it is learned: under weight norm its direction.
  Tensor weight(size_t layer) const { return layers_[layer].linear.weight; }

 private:
  struct Layer {
    Linear linear;
    Normalization normalize;
  };
  DeepDigitsOptions options_;
  std::vector<Layer> layers_;
  std::unique_ptr<Linear> output_;
  std::unique_ptr<Optimizer> optimizer_;
};

/// The images of a split from number `begin` on, and their labels.
struct DigitCases {
  Tensor images;  ///< [count x 784]
  std::vector<int> labels;
};
DigitCases cases_of(const DigitSplit& split, size_t begin, size_t count);

}  // namespace lamina::lab
