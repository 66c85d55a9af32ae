#pragma once
// What makes an LSTM an LSTM: the arithmetic of one step on one row (one case of the batch), forward beside
// backward. Time, products, normalization, masks and threads are the business of recurrence.cpp.
//
// A step's summed inputs arrive in two parts,
//
//   x part       W_x x_t + bias, normalized if the layer is
//   hidden part  W_h h_{t-1}, normalized if the layer is
//
// each [gates * H], gate by gate. Where the cell only adds the two, and no normalization comes between, the
// hidden part is accumulated into the x part by the product itself ("direct" gates). The last `kept_gates()`
// gates are those whose hidden part the cell must see apart from the x part.

#include "core/real.h"

namespace lamina {

/// One row of a forward step.
struct CellForward {
  size_t hidden;         ///< H
  real* gates;           ///< [gates * H] in: x part (and direct hidden part); out: what backward needs
  const real* kept;      ///< the hidden part that was not accumulated: all gates, or the last kept_gates()
  bool all_kept;         ///< which of the two `kept` is
  const real* previous;  ///< h_{t-1} [H], for cells with memory c_{t-1}
  real* next;            ///< h_t [H], for cells with memory c_t
};

/// The same row in the backward step. dgates may be where `gates` is, dkept where `kept` is.
struct CellBackward {
  size_t hidden;
  const real* gates;  ///< as forward left them
  const real* kept;
  bool all_kept;
  const real* previous;
  const real* next;
  const real* dnext;  ///< dL/dh_t, for cells with memory dL/dc_t
  real* dgates;       ///< out: dL/d(x part) [gates * H]
  real* dkept;        ///< out: dL/d(kept), laid out as `kept`; unused when nothing is kept
  real* dprevious;    ///< out: the part of dL/d(previous) that does not pass through W_h
};

class Cell {
 public:
  virtual ~Cell() = default;
  virtual size_t gates() const = 0;
  virtual size_t kept_gates() const { return 0; }
  virtual bool has_memory() const { return false; }
  virtual void forward(const CellForward& row) const = 0;
  virtual void backward(const CellBackward& row) const = 0;
};

/// h_t = f(a),  a = W_x x_t + W_h h_{t-1} + b   (Eq. 4), with f = tanh or relu
const Cell& tanh_cell();
const Cell& relu_cell();

/// Gate order f, i, o, g (Eq. 17-19):  c_t = sig(f) c_{t-1} + sig(i) tanh(g); h_t comes from lstm_output
/// below.
const Cell& lstm_cell();

/// Gate order z, r, n (Eq. 23-25):  h_t = (1 - sig(z)) h_{t-1} + sig(z) tanh(x_n + sig(r) u),
/// with u = U h_{t-1}, the kept hidden part of the last gate.
const Cell& gru_cell();

/// h_j = o_j tanh(c_j), c possibly normalized; `o` as lstm_cell left it in its gates.
void lstm_output(size_t hidden, const real* gates, const real* c, real* h);

/// From dh: the gradient of o's summed input into dgates, which may be `gates`, and dL/dc into dc.
void lstm_output_backward(size_t hidden, const real* gates, const real* c, const real* dh, real* dgates,
                          real* dc);

}  // namespace lamina
