#pragma once
// Sequences of unequal length under recurrent batch norm: few cases reach the late steps.

#include "core/math/random.h"
#include "core/tensor.h"
#include "models/lab/lab.h"

namespace lamina::lab {

/// Sequences with targets y [T x B x 1]: y_t = 0.8 y_{t-1} + 0.6 x_t, x_t and all y_t of variance 1. The input [T x B x 2] is
/// x and a constant 1: layer norm of W x alone would not see the size of x. A case with n steps has a mask [T x B] of n
/// ones and T - n zeros.
struct LeakySums {
  Tensor input, y, mask;
};

/// Every case has `shortest` steps, and as long as it has fewer than `steps` one more with probability 0.85.
LeakySums leaky_sums(size_t steps, size_t cases, size_t shortest, Random& random);

/// The mean of (y - prediction)^2 over the cases that reach a step: [T]. Not a number where none does.
std::vector<double> error_by_step(const Tensor& prediction, const LeakySums& cases);

Lab variable_length();

}  // namespace lamina::lab
