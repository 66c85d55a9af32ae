#pragma once
// The recurrent layers written from primitive ops: the reference for the fused code, and the version to read
// first.

#include "layers/recurrent/recurrent.h"

namespace lamina::composed {

/// Optional inputs of a step.
struct StepOptions {
  Tensor live = {};  ///< [B x 1]: 1, or 0 at padded cases, whose state is carried over; empty: all are live
  Tensor counted = {};    ///< [B x 1]: 1 for the cases that enter batch norm's statistics; only it uses this
  Tensor condition = {};  ///< v [B x condition]
};

/// One step from x_t [B x input]: the state after it. Throws Error for other cells than those of cell.h.
RecurrentState step(const Recurrent& layer, const Tensor& x, const RecurrentState& before,
                    const StepOptions& with = {});

/// The whole sequence, in training mode; the same result as layer(x, with).
Sequence sequence(const Recurrent& layer, const Tensor& x, const SequenceOptions& with = {});

}  // namespace lamina::composed
