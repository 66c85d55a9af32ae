#pragma once
// The recurrent layers once more, written from primitive ops: what the fused code must agree with, and what
// to read first.

#include "layers/recurrent/recurrent.h"

namespace lamina::composed {

/// N(a) for one step, a [B x width], over the cases whose mask [B x 1] is 1; only batch norm asks for it.
Tensor normalize(const StepNormParameters& norm, const Tensor& a, const Tensor& mask = {});

/// The cases of one step, [B x 1] of 1 and 0 each.
struct StepCases {
  Tensor live;     ///< 0: padded, the state is carried over
  Tensor counted;  ///< over which batch norm takes its statistics
};

/// One step: the state after it. x_part [B x gates H] is W_x x_t + b, normalized if the layer is.
RecurrentState lstm_step(const Lstm& layer, const Tensor& x_part, const RecurrentState& before,
                         const StepCases& cases);
RecurrentState gru_step(const Gru& layer, const Tensor& x_part, const RecurrentState& before,
                        const StepCases& cases);
RecurrentState rnn_step(const Rnn& layer, const Tensor& x_part, const RecurrentState& before,
                        const StepCases& cases);

/// The whole sequence, in training mode; the same result as layer(x, with).
Sequence sequence(const Lstm& layer, const Tensor& x, const SequenceOptions& with = {});
Sequence sequence(const Gru& layer, const Tensor& x, const SequenceOptions& with = {});
Sequence sequence(const Rnn& layer, const Tensor& x, const SequenceOptions& with = {});

}  // namespace lamina::composed
