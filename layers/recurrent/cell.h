#pragma once
// What makes an LSTM an LSTM: a declaration of its form, and the arithmetic of one step on one row (one case
// of the batch), forward beside backward. Time, products, normalization, masks and threads are handled by
// row_step.h and recurrence.h.
//
// A step's summed inputs arrive in two parts,
//
//   x part       W_x x_t + bias, normalized if the layer is
//   hidden part  W_h h_{t-1}, normalized if the layer is
//
// each [gates * H], gate by gate. Of most gates the cell uses only the sum of both. Only for the last
// `kept_gates` it gets the hidden part and the x part separately.

#include <array>
#include <optional>

#include "core/tensor.h"

namespace lamina {

/// How h is computed from a memory c: h = output(gates, N(c)), forward beside backward.
struct CellOutput {
  /// gates [gates * H] as CellForward left them, c [H] possibly normalized -> h [H].
  void (*forward)(size_t hidden, const real* gates, const real* c, real* h) = nullptr;
  /// From dh: writes the gradients of the summed inputs that `forward` reads to their places in dgates, which
  /// may be `gates`, and dL/dc to dc. CellBackward computes those of the other gates, and reads none of these: by then
  /// `gates` has their gradients.
  void (*backward)(size_t hidden, const real* gates, const real* c, const real* dh, real* dgates,
                   real* dc) = nullptr;
};

/// What a cell declares; parameters, normalizations and states of a layer follow from it.
struct CellForm {
  size_t gates;           ///< columns of W_x and W_h, in units of H
  size_t kept_gates = 0;  ///< the last of them, whose two parts the cell gets separately
  /// Numbers of gates that share statistics, first to last; {gates, 0}: all do.
  std::array<size_t, 2> segments{};
  /// The sum of both parts is normalized (Eq. 4), not each part. For cells without kept gates and without
  /// memory; their backward pass does not get `gates`.
  bool joint = false;
  std::optional<size_t> forget_gate = {};  ///< whose bias starts at RecurrentOptions::forget_bias
  CellOutput output = {};                  ///< of cells with memory

  bool memory() const { return output.forward != nullptr; }
};

/// One row of a forward step.
struct CellForward {
  size_t hidden;      ///< H
  real* gates;        ///< [gates * H] in: x part; out: what backward needs
  const real* added;  ///< hidden part of the other gates, to be added to theirs; nullptr: it has been added
  const real* kept;   ///< hidden part of the kept gates
  const real* previous;  ///< h_{t-1} [H], for cells with memory c_{t-1}
  real* next;            ///< h_t [H], for cells with memory c_t
};

/// The same row in the backward step. dgates may be `gates`, dkept may be `kept`, and dprevious is where dnext is: of
/// each unit read all before you write.
struct CellBackward {
  size_t hidden;
  const real* gates;  ///< as forward left them, but for those that CellOutput reads
  const real* kept;
  const real* previous;
  const real* next;
  const real* dnext;  ///< dL/dh_t, for cells with memory dL/dc_t
  real* dgates;       ///< out: dL/d(x part) [gates * H]
  real* dkept;        ///< out: dL/d(hidden part) of the kept gates
  real* dprevious;    ///< out: the part of dL/d(previous) that does not pass through W_h
};

/// Threads share it, each with rows of its own, and the backward pass may call forward() again: a cell keeps nothing
/// between calls. Nor has it parameters, whose gradients nothing would carry.
class Cell {
 public:
  /// Error for a form that contradicts itself.
  explicit Cell(const CellForm& form);
  virtual ~Cell() = default;
  const CellForm& form() const { return form_; }
  virtual void forward(const CellForward& row) const = 0;
  virtual void backward(const CellBackward& row) const = 0;

 private:
  CellForm form_;
};

/// Error for a cell with memory whose backward() reads a gate that its output reads, too: its gradients would be wrong. Runs
/// backward() on one row with H = 1, with the gates and with the output's gradients in their places, and compares.
void require_gates_apart(const Cell& cell);

/// What a layer carries from step to step.
struct RecurrentState {
  Tensor h = {};  ///< [B x H]
  Tensor c = {};  ///< [B x H] for cells with memory, otherwise empty

  /// The same numbers without history: truncated back-propagation carries this to the next piece.
  RecurrentState detach() const { return {h.defined() ? h.detach() : h, c.defined() ? c.detach() : c}; }
};

/// h_t = f(a),  a = W_x x_t + W_h h_{t-1} + b   (Eq. 4), with f = tanh or relu
const Cell& tanh_cell();
const Cell& relu_cell();

/// Gate order f, i, o, g (Eq. 17-19):  c_t = sig(f) c_{t-1} + sig(i) tanh(g),  h_t = sig(o) tanh(c_t)
const Cell& lstm_cell();

/// Gate order z, r, n (Eq. 23-25):  h_t = (1 - sig(z)) h_{t-1} + sig(z) tanh(x_n + sig(r) u),
/// with u = U h_{t-1}, the kept hidden part of the last gate.
const Cell& gru_cell();

}  // namespace lamina
