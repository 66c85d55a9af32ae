#pragma once
// Implicit learning-rate reduction (Section 5.2), measured: by what angle does an update turn the weight
// vectors of a normalized layer, and how does that depend on their length?
//
// The first hidden layer of the classifier of models/mnist is watched while it trains. Its weights start
// `scale` times as long as usual, which does not change a normalized network's output.

#include <cstdint>
#include <string>
#include <vector>

#include "layers/norms/norm.h"
#include "models/data/mnist_data.h"
#include "optim/choice.h"

namespace lamina::analysis {

inline constexpr OptimizerKind optimizers[] = {OptimizerKind::sgd, OptimizerKind::adam};
const char* name_of(OptimizerKind optimizer);

struct TurningOptions {
  Norm norm = Norm::layer;
  OptimizerKind optimizer = OptimizerKind::sgd;  ///< SGD with learning rate 0.1, or Adam with 1e-3
  double scale = 1;
  size_t hidden = 100, batch = 100;
  std::uint64_t steps = 500;
  std::uint64_t window = 25;  ///< steps per point of the curve, which is their mean; the last may have fewer
  std::uint64_t seed = 1;
};

/// Means over all units of the layer, and over a window of steps.
struct TurningPoint {
  double step;   ///< the window's last, from 1
  double loss;   ///< in nats
  double norm;   ///< norm2(w_i) before the update
  double angle;  ///< between w_i before and after the update, in degrees
};

struct TurningCurve {
  TurningOptions options;
  TurningPoint first = {};  ///< the first update alone, for which all scales of a normalized network agree
  std::vector<TurningPoint> points = {};
};

/// Trains one network. Throws Error for a window of 0 steps, and as DigitExperiment does.
TurningCurve watch_turning(const MnistData& data, const TurningOptions& options);

/// For every norm and optimizer: the angle's power of the weights' length, fitted over the scales, at the
/// first update and in the first window; and length, angle and loss for the usual scale.
std::string turning_table(const std::vector<TurningCurve>& curves);

}  // namespace lamina::analysis
