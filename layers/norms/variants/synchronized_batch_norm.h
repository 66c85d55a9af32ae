#pragma once
// Batch normalization over the batch of all ranks that train together (core/distributed/group.h): n ranks compute what
// one computes on the whole batch. Two sums over ranks forward, one backward, of two numbers a feature at most.

#include "core/tensor.h"
#include "layers/statistics/batch_pass.h"

namespace lamina {

struct SynchronizedBatchNormOptions {
  real epsilon = real(1e-5);
  Variance variance = Variance::biased;
  Tensor mask = {};  ///< a number for each row: 0 for one that becomes zeros and does not count; empty: none
};

struct SynchronizedBatchNorm {
  Tensor y;
  BatchStatistics statistics;  ///< of the whole batch
  real cases;                  ///< of all ranks, that count
};

/// a [... x C], gain [C], bias [C] or empty; all axes but the last count as cases, as do those of the other ranks.
/// Throws Error for other shapes. A single case of all ranks becomes the bias.
SynchronizedBatchNorm synchronized_batch_norm(const SynchronizedBatchNormOptions& options, const Tensor& a,
                                              const Tensor& gain, const Tensor& bias);

}  // namespace lamina
