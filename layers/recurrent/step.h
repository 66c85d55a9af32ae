#pragma once
// One step at a time, for models that feed their output back into their input (DRAW, handwriting). The
// savings of the whole-sequence layer apply here as well: weights are packed once, and the gradient of each
// weight is one product over all steps.
//
//   RecurrentSession lstm(layer, {.steps = T, .rows = B});      // opened while the tape is recording
//   StepLinear write(write_layer, T, B);
//   RecurrentState state = lstm.initial();
//   for (size_t t = 0; t < T; ++t) {
//     state = lstm(concatenate({image, canvas}, 1), state);
//     canvas = canvas + write(state.h);
//   }
//   tape.backward(loss(canvas));
//
// How: opening a session puts a node on the tape before all steps. Backward runs it after them, and by then
// the gradients of all steps' outputs are contiguous, because the outputs are views of one tensor.

#include <memory>

#include "layers/linear.h"
#include "layers/recurrent/recurrent.h"

namespace lamina {

/// y_t = x_t W + b, up to `steps` times on one tape with the same number of rows.
class StepLinear {
 public:
  /// weight [in x out]; bias [out] or empty. Throws Error for other shapes.
  StepLinear(const Tensor& weight, const Tensor& bias, size_t steps, size_t rows);
  StepLinear(const Linear& layer, size_t steps, size_t rows);

  /// x [rows x in] -> [rows x out]. Throws Error for another shape, after `steps` calls, and when the tape
  /// that records is not the one the session was opened on, or has run backward since: the gradient of the
  /// weight would be lost. In a pause of that tape the result is a constant.
  Tensor operator()(const Tensor& x);

 private:
  struct Gathered;
  std::shared_ptr<Gathered> gathered_;
};

struct SessionOptions {
  size_t steps = 0;  ///< T, or more
  size_t rows = 0;   ///< B
  Mode mode = Mode::train;
};

/// A recurrent layer, one step per call: the numbers and gradients of the whole-sequence layer, with every
/// normalization. For batch norm the k-th call is step k. Copies are the same session: they count their calls together.
class RecurrentSession {
 public:
  /// Throws Error for sizes of 0, for layers that have a condition, and for those that run in reverse: here the caller
  /// determines the order. Keeps every state, also where the layer's `checkpoint` is chosen.
  RecurrentSession(const Recurrent& layer, const SessionOptions& options);

  /// The layer's learned initial state, or zeros: [B x H].
  const RecurrentState& initial() const { return initial_; }

  /// x [B x input] and the state before it -> the state after it. mask [B] holds 1, or 0 for cases whose
  /// state is carried over; empty: no mask. Throws Error for other shapes, naming them;
  /// backward() does so where a mask was written since.
  RecurrentState operator()(const Tensor& x, const RecurrentState& before, const Tensor& mask = {});

  struct Shared;  ///< what all steps use, for the nodes on the tape

 private:
  void require_shapes(const Tensor& x, const RecurrentState& before, const Tensor& mask) const;

  std::shared_ptr<Shared> shared_;
  RecurrentState initial_;
  StepLinear input_, hidden_;
};

}  // namespace lamina
