#pragma once
// Ghost batch normalization (Hoffer, Hubara and Soudry 2017, "Train longer, generalize better"): batch norm of each part
// of the batch by itself.
//
//   y = gain (a - mu_p) / sqrt(sigma_p^2 + epsilon) + bias,  mu_p and sigma_p^2 over the cases of part p, per unit
//
// The noise of the statistics, which regularizes, is then that of the part's size, whatever the size of the batch.

#include "layers/statistics/batch_pass.h"

namespace lamina {

/// Fused. a [N x ... x C], or feature maps [N x H x W x C], of which all positions count; gain [C], bias [C]. The N are
/// cut into N / part parts, rounded down, of equal size to one case: none has fewer cases than a part should, unless
/// the batch has. `statistics`, if given, receives those of every part, [parts x C]. Edges are as in batch_norm, within a
/// part: equal cases become the bias, a NaN stays in the unit. Throws Error as batch_norm does, and for parts of 0
/// cases.
Tensor ghost_batch_norm(const Tensor& a, const Tensor& gain, const Tensor& bias, size_t part,
                        const BatchPassOptions& options = {}, BatchStatistics* statistics = nullptr);

/// The same function, written from primitive ops.
namespace composed {
Tensor ghost_batch_norm(const Tensor& a, const Tensor& gain, const Tensor& bias, size_t part,
                        const BatchPassOptions& options = {});
}

}  // namespace lamina
