#pragma once
// The exercises of lesson 6: your files implement these functions, the judge calls them.

#include <lamina.h>

#include <array>

// layer_norm_backward.cpp

struct LayerNormGradients {
  lamina::Tensor da, dgain, dbias;  // [cases x units], [units], [units]
};

/// The derivatives of a loss for the inputs of y = gain (a - mu) / sqrt(v + epsilon) + bias, where mu and v are mean
/// and variance of a case's units; a [cases x units], gain [units], dy [cases x units] is the loss's for y.
LayerNormGradients layer_norm_backward(const lamina::Tensor& a, const lamina::Tensor& gain,
                                       const lamina::Tensor& dy, lamina::real epsilon);

// normalize_batch.cpp

struct RunningStatistics {
  lamina::Tensor mean, variance;  // [units]
};

/// Batch norm without gain and bias, a [cases x units]. In Mode::train by the mean and the variance (divided by the
/// number of cases) of this batch; they also move the running ones: running = (1 - momentum) running + momentum batch.
/// In Mode::evaluate by the running ones, which stay as they are.
lamina::Tensor normalize_batch(const lamina::Tensor& a, RunningStatistics& running, lamina::Mode mode,
                               lamina::real momentum, lamina::real epsilon);

// fold_batch_norm.cpp

struct Folded {
  lamina::Tensor weight, bias;  // [inputs x units], [units]
};

/// A linear layer that computes what x weight + bias, followed by batch norm in evaluation, computes. `gain` and `shift`
/// are batch norm's gain and bias, `running` its statistics.
Folded fold_batch_norm(const lamina::Tensor& weight, const lamina::Tensor& bias, const lamina::Tensor& gain,
                       const lamina::Tensor& shift, const RunningStatistics& running, lamina::real epsilon);

// rms_norm_invariances.cpp

/// RMS norm's row of Table 1. It divides the summed inputs a = x W of a case by sqrt(mean(a^2)), and subtracts no mean.
/// Does its output stay the same? In the table's order: delta W, W + gamma, delta w_1, delta X, X + shift, delta x_1.
std::array<bool, 6> rms_norm_invariances();
