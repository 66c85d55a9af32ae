#pragma once
// One layer with any of the normalization schemes, as a function: the subject of Sections 5.1 and 5.2.

#include "core/tensor.h"
#include "layers/norms/norm.h"

namespace lamina::analysis {

/// The number of groups that group norm divides the units into.
inline constexpr size_t unit_groups = 4;

struct LayerValues {
  Tensor weight;  ///< [inputs x units], one weight vector w_i per column
  Tensor gain;    ///< [units]; not used without normalization
  Tensor bias;    ///< [units]; not used by RMS norm and others that have none
};

/// y = gain (a - mu) / sigma + bias with a = x W; without normalization y = a + bias. x is [cases x inputs];
/// for instance norm it is [cases x height x width x inputs], and W is applied at every position. Batch norm
/// takes the statistics of these cases; weight norm has no epsilon. The other schemes are as a Normalization
/// makes them (layers/norms/normalization.h): DyT with its first alpha, ghost batch norm in two parts, batch
/// renormalization with running averages of 0 and 1, and without derivatives for gain and bias. Throws Error for other
/// shapes, and for layer_interior, which is about the borders of images.
Tensor normalized_layer(Norm norm, const Tensor& x, const LayerValues& layer, real epsilon);

}  // namespace lamina::analysis
