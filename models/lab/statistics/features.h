#pragma once
// Layer norm across inputs of unlike kinds.

#include <string>

#include "layers/norms/norm.h"
#include "models/lab/lab.h"
#include "models/lab/statistics/people.h"

namespace lamina::lab {

/// How a network of two hidden layers is normalized.
struct FeatureScheme {
  std::string name = {};
  Norm norm = Norm::none;
  bool bias_in_front = false;  ///< learned, added to what is normalized
  bool alike = false;          ///< the features come at one scale
  bool then_batch = false;  ///< batch norm after it: puts to one scale what is there, and brings nothing back
};

enum class NormPlace { input, hidden };

struct FeatureRun {
  size_t epochs = 0;
  double learning_rate = 0;
  std::uint64_t seed = 0;
};

/// Mean squared error over the variance of y: 0 is perfect, 1 as good as to say the mean of y.
double unexplained(const Tensor& prediction, const Tensor& y);

/// Errors on `valid` and `test` after training on `train`.
struct FeatureErrors {
  double valid = 0, test = 0;
};
FeatureErrors train_on_features(const FeatureScheme& scheme, NormPlace place, const People& train,
                                const People& valid, const People& test, const FeatureRun& run);

Lab features();

}  // namespace lamina::lab
