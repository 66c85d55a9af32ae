#pragma once
// A cell carried through time, with or without normalization, as one node on the tape.
//
// The caller has projected the inputs of all steps with one product; here each step adds W_h h_{t-1},
// normalizes, and updates the state, forward and then backward through time. The gradient of W_h is one
// product over all steps at the end.

#include "core/tensor.h"
#include "layers/recurrent/cell.h"
#include "layers/recurrent/sequence_record.h"
#include "layers/recurrent/step_norm.h"

namespace lamina {

struct RecurrenceOptions {
  const Cell* cell = nullptr;
  StepNormParameters input_norm = {};  ///< over the x part (Eq. 20, 26)
  /// For the simple cell over the sum of both parts (Eq. 4), otherwise over the hidden part.
  StepNormParameters hidden_norm = {};
  StepNormParameters memory_norm = {};  ///< over c in h = o tanh(c) (Eq. 22, 31), for cells with memory
  Tensor condition = {};  ///< [B x gates H], added to the x part of every step after its normalization
  Mode mode = Mode::train;
  bool count_padded = false;         ///< batch norm: padded cases enter the statistics
  real clip = 0;                     ///< bound of dL/d(summed inputs), element by element; 0: none
  bool reverse = false;              ///< from the last step to the first
  SequenceRecord* record = nullptr;  ///< with room for every step; must outlive backward()
  size_t record_from = 0;            ///< the place of step 0 in it
};

struct RecurrentState {
  Tensor h = {};  ///< [B x H]
  Tensor c = {};  ///< [B x H] for cells with memory, otherwise empty

  /// The same numbers without history: truncated back-propagation carries this to the next piece.
  RecurrentState detach() const { return {h.defined() ? h.detach() : h, c.defined() ? c.detach() : c}; }
};

/// x_part [T x B x gates H] is used up: without an input norm its buffer holds other numbers afterwards.
/// weight [H x gates H]. State tensors may be empty, which means zeros. mask [T x B] holds 1, or 0 at padded
/// steps, through which the state is carried unchanged; empty: no padding. Writes h_t into `hidden` [T x B x
/// H] and returns the state after the last step. Shapes must have been checked.
RecurrentState recurrence(const RecurrenceOptions& options, const Tensor& x_part, const Tensor& weight,
                          const RecurrentState& initial, const Tensor& mask, const Tensor& hidden);

}  // namespace lamina
