#pragma once
// Batch renormalization (Ioffe 2017): batch norm that leads to what the running averages would have given, so that
// training and evaluation compute nearly the same.
//
//   y = gain ((a - mu_B) / sigma_B r + d) + bias,   sigma = sqrt(variance + epsilon)
//   r = clip(sigma_B / sigma_running, 1 / r_max, r_max),   d = clip((mu_B - mu_running) / sigma_running, -d_max, d_max)
//
// r and d are constants in the backward pass, mu_B and sigma_B are not. Without the limits y is (a - mu_running) /
// sigma_running; with r_max = 1 and d_max = 0 it is batch norm. sigma_running^2 is the running average of the variances,
// as batch norm has it; Ioffe's is of the deviations.

#include "layers/statistics/batch_pass.h"

namespace lamina {

struct RenormLimits {
  real r_max = 3, d_max = 5;  ///< at least 1 and 0; Ioffe's
};

/// A pass for the statistics and one, fused, for the rest. a [... x C] or feature maps [N x H x W x C]; gain, bias and
/// the running averages [C]. `statistics`, if given, receives those of this batch. Equal cases become gain d + bias, and
/// so do those whose variance is infinite. A NaN stays in its unit. Throws Error as batch_norm does, and for limits
/// below 1 and 0.
Tensor batch_renorm(const Tensor& a, const Tensor& gain, const Tensor& bias, const BatchStatistics& running,
                    const RenormLimits& limits = {}, const BatchPassOptions& options = {},
                    BatchStatistics* statistics = nullptr);

/// The same function, written from primitive ops.
namespace composed {
Tensor batch_renorm(const Tensor& a, const Tensor& gain, const Tensor& bias, const BatchStatistics& running,
                    const RenormLimits& limits = {}, const BatchPassOptions& options = {});
}

}  // namespace lamina
