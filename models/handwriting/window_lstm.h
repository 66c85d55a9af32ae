#pragma once
// The first layer of the network (Graves 2013, Eq. 46-53): an LSTM that drives the window over the text and
// gets the window's output as input, all steps as one node on the tape.
//
//   h_t = LSTM([x_t, w_{t-1}], h_{t-1}, c_{t-1})      w_t = window(h_t W + b; kappa_{t-1})
//
// Under layer norm (Eq. 20-22) the summed inputs of the point and of the window are normalized together,
// LN(W_x x_t + W_w w_{t-1}) + LN(W_h h_{t-1}).
//
// The points of all steps are projected by one product, weight gradients are one product over all steps each,
// and in between the work is divided over threads as in layers/recurrent.

#include "layers/linear.h"
#include "layers/recurrent/recurrent.h"
#include "models/handwriting/window.h"

namespace lamina::handwriting {

struct WindowLayer {
  const Lstm& lstm;       ///< of 3 + C inputs: the point, then the window
  const Linear& readout;  ///< [H x 3 K]
};

/// The state between two steps. Empty tensors mean zeros.
struct WindowState {
  Tensor h = {};      ///< [B x H]
  Tensor w = {};      ///< [B x C]
  Tensor carry = {};  ///< [B x H + K]: c and kappa
};

struct WindowSequence {
  Tensor hidden;     ///< h_t [T x B x H]
  Tensor window;     ///< w_t [T x B x C]
  WindowState last;  ///< after the last step
};

/// x [T x B x 3]; as many texts as cases. Throws Error, naming what does not fit, for other shapes.
WindowSequence window_lstm(const WindowLayer& layer, const Tensor& x, const TextBatch& texts,
                           const WindowState& initial = {});

}  // namespace lamina::handwriting
