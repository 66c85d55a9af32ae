#pragma once
// Normalizing the input of a layer in place of its summed inputs, as rows of the paper's Table 1.

#include "layers/norms/norm.h"
#include "models/analysis/normalized_layer.h"
#include "models/lab/lab.h"

namespace lamina::lab {

/// n(x) W + bias, where n is batch or layer norm without gain and bias. Throws Error for other schemes.
Tensor normalized_input_layer(Norm norm, const Tensor& x, const analysis::LayerValues& layer, real epsilon);

Lab input_norm();

}  // namespace lamina::lab
