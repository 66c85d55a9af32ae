#pragma once
// A classifier of built-in digits whose hidden weights are trained apart from the rest: they may have a rate of their own,
// decay, or be held at their first length. Under normalization the loss does not depend on that length.

#include <memory>
#include <optional>
#include <vector>

#include "core/tensor.h"
#include "models/lab/deep_digits.h"
#include "optim/optimizer.h"

namespace lamina::lab {

/// norm2 of each column, or of the whole matrix.
std::vector<double> lengths_of(const Tensor& weight, bool by_column);

/// By how many degrees a column is turned, on average. `before` and `after` are [rows x columns].
double mean_angle(const Tensor& before, const Tensor& after);

/// Digits of which a fifth have random labels: gradients do not vanish, as nothing fits all cases.
struct NoisyDigits {
  MnistData data;
  DigitSplit random;  ///< the training cases of random labels, which one in ten has by right
};
NoisyDigits noisy_digits(std::uint64_t seed, size_t train, size_t test);

/// How the hidden weights are trained.
struct WeightTraining {
  bool adam = false;  ///< SGD otherwise
  double rate = 0, decay = 0;
  bool held = false;                          ///< brought back to their first length after each update
  std::optional<double> rate_of_others = {};  ///< of the output layer, gains and biases; empty: `rate`
};

/// Two relu layers of 50 units, batches of 50. Under layer norm it is the whole matrix whose length the loss does not depend
/// on, under the others every weight vector by itself; without normalization it depends on both.
class ScaleFreeDigits {
 public:
  /// `data` must outlive this.
  ScaleFreeDigits(const MnistData& data, Norm norm, const WeightTraining& training, std::uint64_t seed);

  void train(std::uint64_t step);

  /// The weights of the last hidden layer, and their mean length as part of the first.
  Tensor watched() const;
  double relative_length() const;

  const bool by_column;
  DeepDigits net;

 private:
  void hold();

  bool held_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<std::vector<double>> first_;  ///< lengths, of each layer
};

}  // namespace lamina::lab
