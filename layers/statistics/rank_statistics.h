#pragma once
// Batch norm's sums over all ranks that train together (core/distributed/group.h), each of which has some of the batch's
// cases. Summed in double, in which a rank's mean keeps the digits in which it differs from that of all.

#include <cstddef>
#include <span>

#include "core/real.h"

namespace lamina::column_norm {

/// From mean and variance (divided by N_r) of each column over this rank's N_r cases, those over the cases of all ranks:
///   mean = sum_r N_r m_r / N,    variance = sum_r N_r (v_r + (m_r - mean)^2) / (N - lost)
/// Returns N. A rank may have no case. Where none has any, the mean is 0 and the variance infinite. Two sums over ranks.
real merge_ranks(size_t cases, real lost, std::span<real> mean, std::span<real> variance);

/// values[i] = sum over ranks of values[i]. One sum over ranks.
void sum_ranks(std::span<real> values);

}  // namespace lamina::column_norm
