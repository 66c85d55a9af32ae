#pragma once
// Batch normalization over the batch of all ranks that train together (core/distributed/group.h): n ranks compute what
// one computes on the whole batch. Two sums over ranks forward, one backward, of two numbers a feature at most.

#include "core/tensor.h"
#include "layers/statistics/batch_pass.h"

namespace lamina {

/// a [... x C], gain [C], bias [C]; all axes but the last count as cases, as do those of the other ranks. `statistics`
/// receives those of the whole batch. Throws Error as batch_norm does.
Tensor synchronized_batch_norm(const Tensor& a, const Tensor& gain, const Tensor& bias, real epsilon,
                               Variance estimate, BatchStatistics& statistics);

}  // namespace lamina
