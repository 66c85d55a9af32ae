#pragma once
// Batch size 1 from the first case on: which schemes can learn so, and what batch norm would make of a single case.

#include <cstdint>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "layers/norms/norm.h"
#include "models/data/mnist_data.h"
#include "models/lab/lab.h"

namespace lamina::lab {

struct OnlineOptions {
  Norm norm = Norm::none;
  real learning_rate = real(0.03);  ///< of SGD without momentum
  std::uint64_t seed = 1;           ///< of the initial weights
};

struct OnlineRun {
  std::vector<double>
      wrong;            ///< 1 for each case that was answered wrongly before it was learned from, else 0
  std::string refusal;  ///< why the next case could not be learned from; empty: all were
};

/// A new network, 784 - 64 - 64 - 10 with relu, sees each training case once and in order: it answers, then learns from it.
OnlineRun learn_online(const MnistData& data, const OnlineOptions& options);

/// How much the normalized outputs of a layer depend on the case, if each case is normalized by itself: their deviation
/// over the cases a [cases x units], by unit, root of the mean of squares. For batch norm by its formula with N = 1.
double dependence_on_case(Norm norm, const Tensor& a);

Lab online();

}  // namespace lamina::lab
