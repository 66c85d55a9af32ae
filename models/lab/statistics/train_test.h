#pragma once
// Batch norm computes one thing in training and another in use: by how much, and what makes it less.

#include "core/math/random.h"
#include "layers/norms/batch_norm.h"
#include "models/lab/deep_digits.h"
#include "models/lab/lab.h"

namespace lamina::lab {

/// sqrt(mean((a - b)^2))
double rms_difference(const Tensor& a, const Tensor& b);

/// Gaussian summed inputs whose units have means and deviations of their own.
struct GaussianUnits {
  Tensor mean, deviation;  ///< [units]

  Tensor draw(size_t cases, Random& random) const;  ///< [cases x units]
};
GaussianUnits gaussian_units(size_t units, Random& random);

/// What one layer of batch norm gives a case in training and in use, which lie this far apart (rms_difference), with the
/// moving averages of 200 batches, or with `precise` the units' own mean and variance.
double layer_difference(const BatchNormOptions& options, bool precise, size_t batch, Random& random);

/// Replaces the moving averages under batch norm by the mean and variance of these cases in use, layer by layer (precise
/// statistics: Wu and Johnson 2021).
void measure_precisely(DeepDigits& net, const Tensor& images);

Lab train_test();

}  // namespace lamina::lab
