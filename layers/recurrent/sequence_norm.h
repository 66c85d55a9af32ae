#pragma once
// The normalization of W_x x for all steps of a sequence at once: LN(W_x x_t) of Eq. 20 and 26, or the batch
// norm of each step.

#include "layers/recurrent/step_norm.h"

namespace lamina {

/// raw [T x B x width], mask [T x B] or empty -> [T x B x width]; raw itself for Norm::none. Padded steps do
/// not enter the statistics of batch norm; what they give is not defined.
Tensor sequence_norm(const StepNormParameters& parameters, const Tensor& raw, const Tensor& mask, Mode mode);

}  // namespace lamina
